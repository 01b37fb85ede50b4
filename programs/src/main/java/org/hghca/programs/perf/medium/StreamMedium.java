package org.hghca.programs.perf.medium;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.time.Duration;
import java.util.Arrays;
import org.hghca.programs.peer.PeerException;

/** Messages over two streams, such as standard input and output of another process. */
public final class StreamMedium implements Medium {
  private static final int PIECE = 8192;

  private final Inbox inbox;
  private final OutputStream out;

  /**
   * Reads from now on.
   *
   * @param peer the other side, for errors
   * @param in is read by a thread of its own until it ends
   * @param limit longest wait for each message
   * @param ended runs in that thread when it has ended
   */
  public StreamMedium(
      String peer, InputStream in, OutputStream out, Duration limit, Runnable ended) {
    this.out = out;
    inbox = new Inbox(peer, limit);
    Thread.ofPlatform()
        .daemon()
        .name("stream of " + peer)
        .start(
            () -> {
              readAll(in);
              ended.run();
            });
  }

  private void readAll(InputStream in) {
    byte[] piece = new byte[PIECE];
    try {
      for (int count = in.read(piece); count >= 0; count = in.read(piece)) {
        inbox.add(Arrays.copyOf(piece, count));
      }
    } catch (IOException _) {
      // The stream of a process that was ended.
    }
    inbox.end();
  }

  @Override
  public String peer() {
    return inbox.peer();
  }

  @Override
  public void limit(Duration limit) {
    inbox.limit(limit);
  }

  @Override
  public void write(byte[] message) {
    try {
      out.write(message);
      out.flush();
    } catch (IOException e) {
      throw new PeerException("%s takes no more messages".formatted(peer()), e);
    }
  }

  @Override
  public byte[] read(String what, int length) throws InterruptedException {
    return inbox.read(what, length);
  }

  /** Ends the stream of messages to the other side, which then ends its own. */
  @Override
  public void close() {
    try {
      out.close();
    } catch (IOException _) {
      // The other side has gone before.
    }
  }
}
