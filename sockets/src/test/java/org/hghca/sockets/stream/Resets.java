package org.hghca.sockets.stream;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.SocketException;
import java.nio.ByteBuffer;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

/** A stream that is reset: the JDK's exception ends what is repeated on it. */
final class Resets {
  private Resets() {}

  /** Reads until that fails. */
  static void assertReadsEnd(ByteStream stream) {
    assertEnds(() -> TwoStreamDevices.readFully(stream, ByteBuffer.allocate(1)));
  }

  /** Writes until that fails. */
  static void assertWritesEnd(ByteStream stream) {
    assertEnds(() -> TwoStreamDevices.writeFully(stream, ByteBuffer.allocate(1000)));
  }

  private static void assertEnds(ThrowingCallable repeated) {
    assertThatThrownBy(
            () -> {
              while (true) {
                repeated.call();
              }
            })
        .isInstanceOf(SocketException.class)
        .hasMessage("Connection reset");
  }
}
