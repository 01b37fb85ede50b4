package org.hghca.sockets;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.IllegalBlockingModeException;

/** What leaves by a socket channel. */
final class SocketOutput extends OutputStream {
  private final RdmaSocketChannel channel;

  SocketOutput(RdmaSocketChannel channel) {
    this.channel = channel;
  }

  @Override
  public void write(int value) throws IOException {
    write(new byte[] {(byte) value}, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int offset, int length) throws IOException {
    ByteBuffer left = ByteBuffer.wrap(bytes, offset, length);
    if (!channel.isBlocking()) {
      throw new IllegalBlockingModeException();
    }
    while (left.hasRemaining()) {
      SocketErrors.translated(() -> channel.write(left));
    }
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
