package org.hghca.tools;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Makes the signal that ends a process (Ctrl-C, SIGTERM) interrupt the thread that created this
 * object. The thread then has some seconds to write its results until it closes this object. Then
 * the process ends.
 */
final class Interruption implements AutoCloseable {
  private static final Duration LIMIT = Duration.ofSeconds(15);

  private final CountDownLatch written = new CountDownLatch(1);
  private final Thread hook;

  Interruption() {
    Thread session = Thread.currentThread();
    hook =
        new Thread(
            () -> {
              session.interrupt();
              awaitWritten();
              Runtime.getRuntime().halt(ExitCode.INTERRUPTED.code());
            },
            "interruption");
    Runtime.getRuntime().addShutdownHook(hook);
  }

  private void awaitWritten() {
    try {
      boolean _ = written.await(LIMIT.toSeconds(), TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    written.countDown();
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // It is running: it ends the process.
    }
  }
}
