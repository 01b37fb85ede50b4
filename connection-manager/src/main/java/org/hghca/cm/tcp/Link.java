package org.hghca.cm.tcp;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;

/**
 * A socket that carries messages, with one deadline at a time, at which it is closed. One thread
 * reads; any thread writes: all messages of a connection together are smaller than the socket's
 * buffer, so that writing does not wait for the peer. Thread-safe but for reading.
 */
final class Link implements AutoCloseable {
  private final TcpCarrier carrier;
  private final SocketChannel channel;
  private Future<?> deadline = CompletableFuture.completedFuture(null);
  private boolean expired;
  private boolean closed;

  /** A link over a socket of its own, which the carrier closes at the latest. */
  Link(TcpCarrier carrier, SocketChannel channel) throws IOException {
    this.carrier = carrier;
    this.channel = channel;
    try {
      channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
      channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
      carrier.opened(this);
    } catch (IOException | RuntimeException e) {
      close();
      throw e;
    }
  }

  /** Connects, from a given address unless it is the wildcard address. */
  void connect(InetAddress from, InetSocketAddress to) throws IOException {
    if (!from.isAnyLocalAddress()) {
      channel.bind(new InetSocketAddress(from, 0));
    }
    channel.connect(to);
  }

  /** Closes the link after a time, instead of any earlier deadline. */
  synchronized void deadline(Duration time) {
    noDeadline();
    if (!closed) {
      deadline = carrier.after(time, this::expire);
    }
  }

  synchronized void noDeadline() {
    deadline.cancel(false);
  }

  private void expire() {
    synchronized (this) {
      if (closed) {
        return;
      }
      expired = true;
    }
    close();
  }

  /** Whether the deadline closed it. */
  synchronized boolean isExpired() {
    return expired;
  }

  InetSocketAddress local() throws IOException {
    return (InetSocketAddress) channel.getLocalAddress();
  }

  InetSocketAddress remote() throws IOException {
    return (InetSocketAddress) channel.getRemoteAddress();
  }

  /**
   * Reads a message.
   *
   * @throws EOFException when the peer has closed
   * @throws VersionException when the peer speaks another version
   * @throws MalformedException when it speaks another protocol, or too long
   */
  Message read() throws IOException {
    ByteBuffer header = read(Message.HEADER);
    int magic = header.getInt();
    if (magic != Message.MAGIC) {
      throw new MalformedException("0x%08x where a message begins".formatted(magic));
    }
    final int version = Short.toUnsignedInt(header.getShort());
    final int kind = Short.toUnsignedInt(header.getShort());
    final int length = header.getInt();
    if (length < 0 || length > Message.MAX_BODY) {
      throw new MalformedException("a message of " + Integer.toUnsignedString(length) + " bytes");
    }
    ByteBuffer body = read(length);
    if (version != Message.VERSION) {
      throw new VersionException(version);
    }
    if (kind >= Message.Kind.values().length) {
      throw new MalformedException("kind " + kind);
    }
    return new Message(Message.Kind.values()[kind], body);
  }

  private ByteBuffer read(int length) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(length);
    while (bytes.hasRemaining()) {
      if (channel.read(bytes) < 0) {
        throw new EOFException("the peer has closed the connection");
      }
    }
    return bytes.flip();
  }

  /**
   * Whether the peer has closed, or has sent something where it must wait. By the thread that
   * reads, between messages.
   */
  boolean hasEnded() throws IOException {
    channel.configureBlocking(false);
    try {
      return channel.read(ByteBuffer.allocate(1)) != 0;
    } finally {
      channel.configureBlocking(true);
    }
  }

  /**
   * Writes a message, if it still can: where it cannot, reading tells. An interrupt of the caller
   * would close the channel, so that another thread writes.
   */
  void write(Message message) {
    ByteBuffer bytes = message.encoded();
    Thread writing = Thread.ofVirtual().name("hghca-cm-write").start(() -> write(bytes));
    boolean interrupted = false;
    while (writing.isAlive()) {
      try {
        writing.join();
      } catch (InterruptedException _) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void write(ByteBuffer bytes) {
    synchronized (channel) {
      try {
        while (bytes.hasRemaining()) {
          channel.write(bytes);
        }
      } catch (IOException _) {
        close();
      }
    }
  }

  @Override
  public void close() {
    synchronized (this) {
      closed = true;
      noDeadline();
    }
    carrier.closed(this);
    try {
      channel.close();
    } catch (IOException _) {
      // it is closed all the same
    }
  }
}
