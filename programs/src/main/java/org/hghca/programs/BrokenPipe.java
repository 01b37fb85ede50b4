package org.hghca.programs;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.util.Objects;

/** The error of a write to a pipe or connection that nobody reads any more: EPIPE. */
final class BrokenPipe {
  private BrokenPipe() {}

  /**
   * Whether a write failed with it. Java gives no number, and the text depends on the locale, so
   * that it is compared with the text of a pipe that is broken here.
   */
  static boolean is(IOException failure) {
    try {
      Pipe pipe = Pipe.open();
      try (Pipe.SinkChannel sink = pipe.sink()) {
        pipe.source().close();
        int _ = sink.write(ByteBuffer.allocate(1));
        return false;
      }
    } catch (IOException broken) {
      return Objects.equals(broken.getMessage(), failure.getMessage());
    }
  }
}
