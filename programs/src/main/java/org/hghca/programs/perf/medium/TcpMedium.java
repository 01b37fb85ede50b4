package org.hghca.programs.perf.medium;

import java.time.Duration;
import java.util.Arrays;
import org.hghca.programs.peer.PeerException;
import org.hghca.programs.peer.SideChannel;

/** Messages over TCP; addresses are text. */
public final class TcpMedium implements Medium {
  private final SideChannel channel;

  private TcpMedium(SideChannel channel) {
    this.channel = channel;
  }

  /**
   * Connects to a server.
   *
   * @param limit longest wait for each of its addresses, and for each message
   */
  public static TcpMedium connect(String host, int port, Duration limit)
      throws InterruptedException {
    try {
      return new TcpMedium(SideChannel.connect(host, port, limit));
    } catch (PeerException e) {
      throw new PeerException(
          e.getMessage() + "; if the server has -R or -z, give the same here", e);
    }
  }

  /**
   * Waits for a client, for any time.
   *
   * @param limit longest wait for each message
   */
  public static TcpMedium accept(int port, Duration limit) throws InterruptedException {
    return new TcpMedium(SideChannel.accept(port, limit));
  }

  @Override
  public String peer() {
    return channel.peer();
  }

  @Override
  public void limit(Duration limit) {
    channel.limit(limit);
  }

  @Override
  public void write(byte[] message) throws InterruptedException {
    channel.write(message);
  }

  @Override
  public byte[] read(String what, int length) throws InterruptedException {
    return channel.read(what, length);
  }

  @Override
  public void writeAddress(PeerAddress own) throws InterruptedException {
    channel.write(own.toMessage());
  }

  /** Reads either format, which its length tells. */
  @Override
  public PeerAddress readAddress() throws InterruptedException {
    byte[] message = channel.read("its address", PeerAddress.LENGTH);
    if (message[PeerAddress.LENGTH - 1] != 0) {
      int more = PeerAddress.LENGTH_WITH_GID - PeerAddress.LENGTH;
      byte[] rest = channel.read("the rest of its address", more);
      message = Arrays.copyOf(message, PeerAddress.LENGTH_WITH_GID);
      System.arraycopy(rest, 0, message, PeerAddress.LENGTH, more);
    }
    try {
      return PeerAddress.parse(message);
    } catch (IllegalArgumentException _) {
      throw PeerException.unexpected(peer(), "the address of a queue pair", message);
    }
  }

  @Override
  public void close() {
    channel.close();
  }
}
