package org.hghca.programs.perf.medium;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.hghca.programs.peer.PeerException;

/**
 * Messages between two sides of this process, which need no network: a machine may have none, not
 * even to itself.
 */
public final class LocalMedium implements Medium {
  private static final byte[] END = {};

  private final BlockingQueue<byte[]> in;
  private final BlockingQueue<byte[]> out;
  private ByteBuffer rest = ByteBuffer.allocate(0);
  private Duration limit;

  private LocalMedium(BlockingQueue<byte[]> in, BlockingQueue<byte[]> out, Duration limit) {
    this.in = in;
    this.out = out;
    this.limit = limit;
  }

  /**
   * Two ends that are connected: the server's and the client's.
   *
   * @param limit longest wait for each message
   */
  public static List<Medium> pair(Duration limit) {
    BlockingQueue<byte[]> toServer = new LinkedBlockingQueue<>();
    BlockingQueue<byte[]> toClient = new LinkedBlockingQueue<>();
    return List.of(
        new LocalMedium(toServer, toClient, limit), new LocalMedium(toClient, toServer, limit));
  }

  @Override
  public String peer() {
    return "the other side";
  }

  @Override
  public void limit(Duration longest) {
    limit = longest;
  }

  @Override
  public void write(byte[] message) {
    out.add(message.clone());
  }

  @Override
  public byte[] read(String what, int length) throws InterruptedException {
    byte[] message = new byte[length];
    long deadline = System.nanoTime() + limit.toNanos();
    int count = 0;
    while (count < length) {
      if (!rest.hasRemaining()) {
        rest = next(what, count, length, deadline);
      }
      int part = Math.min(length - count, rest.remaining());
      rest.get(message, count, part);
      count += part;
    }
    return message;
  }

  private ByteBuffer next(String what, int count, int length, long deadline)
      throws InterruptedException {
    byte[] more = in.poll(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
    if (more == null) {
      throw new PeerException(
          "%s sent %d of the %d bytes of %s in %d ms"
              .formatted(peer(), count, length, what, limit.toMillis()));
    }
    if (more.length == 0) {
      in.add(END);
      throw new PeerException(
          "%s ended the conversation after %d of the %d bytes of %s"
              .formatted(peer(), count, length, what));
    }
    return ByteBuffer.wrap(more);
  }

  /** What was sent before arrives. */
  @Override
  public void close() {
    out.add(END);
  }
}
