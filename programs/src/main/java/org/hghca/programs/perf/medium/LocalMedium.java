package org.hghca.programs.perf.medium;

import java.time.Duration;
import java.util.List;

/**
 * Messages between two sides of this process, which need no network: a machine may have none, not
 * even to itself.
 */
public final class LocalMedium implements Medium {
  private static final String PEER = "the other side";

  private final Inbox in;
  private final Inbox out;

  private LocalMedium(Inbox in, Inbox out) {
    this.in = in;
    this.out = out;
  }

  /**
   * Two ends that are connected: the server's and the client's.
   *
   * @param limit longest wait for each message
   */
  public static List<Medium> pair(Duration limit) {
    Inbox server = new Inbox(PEER, limit);
    Inbox client = new Inbox(PEER, limit);
    return List.of(new LocalMedium(server, client), new LocalMedium(client, server));
  }

  @Override
  public String peer() {
    return in.peer();
  }

  @Override
  public void limit(Duration limit) {
    in.limit(limit);
  }

  @Override
  public void write(byte[] message) {
    out.add(message.clone());
  }

  @Override
  public byte[] read(String what, int length) throws InterruptedException {
    return in.read(what, length);
  }

  /** What was sent before arrives. */
  @Override
  public void close() {
    out.end();
  }
}
