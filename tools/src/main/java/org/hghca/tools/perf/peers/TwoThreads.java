package org.hghca.tools.perf.peers;

import java.io.Closeable;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.hghca.programs.perf.PerfException;

/** Both ends of a pair of sockets, each in a thread of its own. Not thread-safe. */
final class TwoThreads {
  private static final Duration LIMIT = Duration.ofSeconds(20);

  private final Closeable sockets;
  private final AtomicReference<Exception> failure = new AtomicReference<>();
  private final CountDownLatch both = new CountDownLatch(2);

  /** What an end does. */
  interface End {
    void run() throws IOException, InterruptedException;
  }

  private TwoThreads(Closeable sockets) {
    this.sockets = sockets;
  }

  /**
   * Runs both ends, and closes their sockets: at once when an end fails, so that the other does not
   * wait for it.
   *
   * @throws IOException the failure of the end that failed first
   * @throws PerfException when they have not ended within 20 s, as after a loss
   */
  static void run(Closeable sockets, End server, End client)
      throws IOException, InterruptedException {
    TwoThreads threads = new TwoThreads(sockets);
    try (sockets) {
      threads.run(server, client);
    }
  }

  private void run(End server, End client) throws IOException, InterruptedException {
    Thread serving = start("socket server", server);
    Thread measuring = start("socket client", client);
    boolean ended = false;
    try {
      ended = measuring.join(LIMIT) && serving.join(LIMIT);
    } finally {
      if (!ended) {
        sockets.close();
        measuring.interrupt();
        serving.interrupt();
      }
    }
    if (!ended) {
      throw new PerfException("nothing more came for %d s".formatted(LIMIT.toSeconds()));
    }
    switch (failure.get()) {
      case null -> {}
      case IOException e -> throw e;
      case InterruptedException e -> throw e;
      case RuntimeException e -> throw e;
      case Exception e -> throw new IllegalStateException(e);
    }
  }

  private Thread start(String name, End end) {
    return Thread.ofPlatform().daemon().name(name).start(() -> run(end));
  }

  /** Neither begins before the other is there. */
  private void run(End end) {
    try {
      both.countDown();
      both.await();
      end.run();
    } catch (IOException | InterruptedException | RuntimeException e) {
      if (failure.compareAndSet(null, e)) {
        close();
      }
    }
  }

  private void close() {
    try {
      sockets.close();
    } catch (IOException e) {
      failure.get().addSuppressed(e);
    }
  }
}
