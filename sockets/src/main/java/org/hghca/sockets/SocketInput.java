package org.hghca.sockets;

import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.SocketChannel;
import java.util.Objects;
import java.util.function.IntSupplier;

/**
 * What arrives at a socket channel, with a time limit for each read. One of the JDK's {@code
 * Channels} would hold the channel's blocking lock while it reads.
 */
final class SocketInput extends InputStream {
  private final RdmaSocketChannel channel;
  private final IntSupplier timeout;

  SocketInput(RdmaSocketChannel channel, IntSupplier timeout) {
    this.channel = channel;
    this.timeout = timeout;
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] bytes, int offset, int length) throws IOException {
    Objects.checkFromIndexSize(offset, length, bytes.length);
    if (length == 0) {
      return 0;
    }
    if (!channel.isBlocking()) {
      throw new IllegalBlockingModeException();
    }
    int millis = timeout.getAsInt();
    SocketChannel platform = channel.platform();
    if (platform != null && millis > 0) {
      Socket socket = platform.socket();
      socket.setSoTimeout(millis);
      return socket.getInputStream().read(bytes, offset, length);
    }
    return SocketErrors.translated(
        () -> channel.read(ByteBuffer.wrap(bytes, offset, length), Deadlines.in(millis)));
  }

  @Override
  public int available() throws IOException {
    SocketChannel platform = channel.platform();
    return platform == null ? 0 : platform.socket().getInputStream().available();
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
