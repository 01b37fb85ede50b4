package org.hghca.sockets.stream;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;

/** A server that returns what it gets, until it is killed, or nobody has connected for long. */
final class DyingProgram {
  private DyingProgram() {}

  /** With a locator and the device's address; prints the port. */
  public static void main(String[] arguments) throws Exception {
    try (RdmaStreamDevice device = RdmaStreamDevice.open(arguments[0]);
        StreamListener listener =
            device.listen(
                new InetSocketAddress(InetAddress.ofLiteral(arguments[1]), 0),
                8,
                StreamOptions.DEFAULT)) {
      System.out.println(listener.localAddress().getPort());
      while (listener.await(System.nanoTime() + TimeUnit.MINUTES.toNanos(1))) {
        ByteStream accepted = listener.accept();
        Thread.ofVirtual().start(() -> echo(accepted));
      }
    }
  }

  private static void echo(ByteStream stream) {
    ByteBuffer buffer = ByteBuffer.allocate(1 << 16);
    try {
      while (true) {
        TwoStreamDevices.readFully(stream, buffer.clear().limit(1));
        TwoStreamDevices.writeFully(stream, buffer.flip());
      }
    } catch (IOException _) {
      // the peer has gone
    }
  }
}
