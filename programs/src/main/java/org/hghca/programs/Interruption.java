package org.hghca.programs;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.hghca.vfio.trace.TraceFile;

/**
 * Handles the signal that ends a process (Ctrl-C, SIGTERM): the command then has some seconds to
 * finish until it closes this object. Then the process ends.
 */
public final class Interruption implements AutoCloseable {
  private static final Duration LIMIT = Duration.ofSeconds(15);

  private final CountDownLatch finished = new CountDownLatch(1);
  private final Thread hook;
  private volatile boolean begun;

  /**
   * Begins to handle the signal.
   *
   * @param end makes the command finish
   * @param exit exit code of the process
   */
  public Interruption(Runnable end, ExitCode exit) {
    hook =
        new Thread(
            () -> {
              begun = true;
              end.run();
              awaitFinished();
              TraceFile.writeAll(); // a signal has begun to, on another thread
              Runtime.getRuntime().halt(exit.code());
            },
            "interruption");
    Runtime.getRuntime().addShutdownHook(hook);
  }

  private void awaitFinished() {
    try {
      boolean _ = finished.await(LIMIT.toSeconds(), TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Whether the signal has come. */
  public boolean hasBegun() {
    return begun;
  }

  @Override
  public void close() {
    finished.countDown();
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // It is running: it ends the process.
    }
  }
}
