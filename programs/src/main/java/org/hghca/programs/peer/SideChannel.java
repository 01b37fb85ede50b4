package org.hghca.programs.peer;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * The TCP connection over which programs such as {@code ibv_rc_pingpong} and {@code ib_send_bw}
 * exchange what they need for their queue pairs: messages of known lengths, each written at once,
 * because the originals read each by one call. One thread at a time.
 */
public final class SideChannel implements AutoCloseable {
  private final SocketChannel channel;
  private final String peer;
  private Duration limit;

  private SideChannel(SocketChannel channel, Duration limit) throws IOException {
    this.channel = channel;
    this.limit = limit;
    channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
    InetSocketAddress address = (InetSocketAddress) channel.getRemoteAddress();
    String host = address.getAddress().getHostAddress();
    peer = (host.contains(":") ? "[" + host + "]" : host) + ":" + address.getPort();
  }

  /**
   * Connects to a server, by the first of the host's addresses that answers.
   *
   * @param limit longest wait for each address, and for each message
   * @throws PeerException when no address answers
   */
  public static SideChannel connect(String host, int port, Duration limit)
      throws InterruptedException {
    IOException why = null;
    for (InetAddress address : addresses(host)) {
      try {
        return connect(new InetSocketAddress(address, port), limit);
      } catch (ClosedByInterruptException e) {
        throw interrupted(e);
      } catch (IOException e) {
        why = e;
      }
    }
    throw new PeerException("%s:%d: %s".formatted(host, port, why.getMessage()), why);
  }

  private static InetAddress[] addresses(String host) {
    try {
      return InetAddress.getAllByName(host);
    } catch (UnknownHostException e) {
      throw new PeerException("'%s' is no address, and no host has that name".formatted(host), e);
    }
  }

  private static SideChannel connect(InetSocketAddress address, Duration limit) throws IOException {
    SocketChannel channel = SocketChannel.open();
    try {
      channel.socket().connect(address, (int) Math.min(limit.toMillis(), Integer.MAX_VALUE));
      return new SideChannel(channel, limit);
    } catch (IOException | RuntimeException e) {
      channel.close();
      throw e;
    }
  }

  /**
   * Waits for a client on all addresses of this machine, for any time. Later clients are refused.
   *
   * @param limit longest wait for each message
   * @throws PeerException when the port cannot be had
   */
  public static SideChannel accept(int port, Duration limit) throws InterruptedException {
    try (ServerSocketChannel listener = ServerSocketChannel.open()) {
      listener.setOption(StandardSocketOptions.SO_REUSEADDR, true);
      listener.bind(new InetSocketAddress(port), 1);
      return new SideChannel(listener.accept(), limit);
    } catch (ClosedByInterruptException e) {
      throw interrupted(e);
    } catch (IOException e) {
      throw new PeerException("port %d: %s".formatted(port, e.getMessage()), e);
    }
  }

  /** Address and port of the other end. */
  public String peer() {
    return peer;
  }

  /** Changes the longest wait for a message. */
  public void limit(Duration limit) {
    this.limit = limit;
  }

  /**
   * Sends a message.
   *
   * @throws PeerException when the other end has gone
   */
  public void write(byte[] message) throws InterruptedException {
    try {
      ByteBuffer bytes = ByteBuffer.wrap(message);
      while (bytes.hasRemaining()) {
        channel.write(bytes);
      }
    } catch (ClosedByInterruptException e) {
      throw interrupted(e);
    } catch (IOException e) {
      throw broken(e);
    }
  }

  /**
   * Waits for a message.
   *
   * @param what the message is, for errors
   * @return its bytes, all of them
   * @throws PeerException when it does not come in time, or not as a whole
   */
  public byte[] read(String what, int length) throws InterruptedException {
    byte[] message = new byte[length];
    long deadline = System.nanoTime() + limit.toNanos();
    int count = 0;
    while (count < length) {
      int more = readSome(message, count, deadline);
      if (more <= 0) {
        throw new PeerException(
            (more < 0
                    ? "%s ended the connection after %d of the %d bytes of %s"
                    : "%s sent %d of the %d bytes of %s in " + limit.toMillis() + " ms")
                .formatted(peer, count, length, what));
      }
      count += more;
    }
    return message;
  }

  /** How many bytes came; 0 for none in time, -1 for none ever. */
  private int readSome(byte[] message, int from, long deadline) throws InterruptedException {
    try {
      // 0 would be no limit.
      long millis = Math.max(1, TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime()));
      channel.socket().setSoTimeout((int) Math.min(millis, Integer.MAX_VALUE));
      return channel.socket().getInputStream().read(message, from, message.length - from);
    } catch (SocketTimeoutException _) {
      return 0;
    } catch (ClosedByInterruptException e) {
      throw interrupted(e);
    } catch (IOException e) {
      throw broken(e);
    }
  }

  /** The failure of a message that is not what it must be; it quotes the message. */
  public PeerException unexpected(String what, byte[] message) {
    return PeerException.unexpected(peer, what, message);
  }

  private PeerException broken(IOException e) {
    return new PeerException("the connection to %s broke: %s".formatted(peer, e.getMessage()), e);
  }

  private static InterruptedException interrupted(ClosedByInterruptException cause) {
    Thread.interrupted(); // the exception says so from here on
    InterruptedException interrupted = new InterruptedException("interrupted");
    interrupted.initCause(cause);
    return interrupted;
  }

  @Override
  public void close() {
    try {
      channel.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
