package org.hghca.tools.card.command;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * The lines of a prompt or of a script. They are read by a thread of their own, so that an
 * interrupt ends the wait for the next one, which a read of a terminal does not allow.
 */
public final class CommandLines implements AutoCloseable {
  private final BufferedReader in;
  private final ExecutorService thread =
      Executors.newSingleThreadExecutor(Thread.ofPlatform().daemon().name("lines").factory());

  public CommandLines(Reader in) {
    this.in = new BufferedReader(in);
  }

  /**
   * Waits for the next line; empty at the end.
   *
   * @throws UncheckedIOException when it cannot be read
   */
  Optional<String> next() throws InterruptedException {
    try {
      return Optional.ofNullable(thread.submit(in::readLine).get());
    } catch (ExecutionException e) {
      if (e.getCause() instanceof IOException failure) {
        throw new UncheckedIOException(failure);
      }
      throw new IllegalStateException(e.getCause());
    }
  }

  /** A read that has not returned is left to its thread, which keeps no process alive. */
  @Override
  public void close() {
    thread.shutdownNow();
  }
}
