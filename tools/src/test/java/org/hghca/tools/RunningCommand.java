package org.hghca.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.Writer;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.hghca.vfio.kernel.Machine;

/** A command in a thread of its own, which {@link #close} interrupts. */
@SuppressWarnings("try") // an interrupt ends the test
public final class RunningCommand implements AutoCloseable {
  private final Printed out = new Printed();
  private final Printed err = new Printed();
  private final CompletableFuture<Integer> exitCode = new CompletableFuture<>();
  private final Thread thread;

  /** What a command has printed; who waits for a text hears of each write. */
  private static final class Printed extends Writer {
    private final StringBuilder text = new StringBuilder();

    @Override
    public synchronized void write(char[] chars, int start, int length) {
      text.append(chars, start, length);
      notifyAll();
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}

    synchronized boolean contains(String part) {
      return text.indexOf(part) >= 0;
    }

    synchronized void awaitOr(String part, BooleanSupplier end) throws InterruptedException {
      while (!contains(part) && !end.getAsBoolean()) {
        wait();
      }
    }

    /** Lets those who wait ask again whether it has ended. */
    synchronized void ended() {
      notifyAll();
    }

    @Override
    public synchronized String toString() {
      return text.toString();
    }
  }

  private RunningCommand(String... words) {
    thread =
        Thread.ofPlatform()
            .name(String.join(" ", words))
            .start(
                () -> {
                  try {
                    exitCode.complete(
                        Main.run(
                            Machine.local(),
                            new PrintWriter(out, true),
                            new PrintWriter(err, true),
                            words));
                  } catch (RuntimeException | Error e) {
                    exitCode.completeExceptionally(e);
                  } finally {
                    out.ended();
                    err.ended();
                  }
                });
  }

  /** Starts a command, whose words are between spaces. */
  public static RunningCommand start(String command) {
    return new RunningCommand(command.split(" "));
  }

  /**
   * Runs a client, for a minute at the most again while its server does not listen yet.
   *
   * @param early what a client prints that was too early
   */
  public static CommandLineRun client(Pattern early, Supplier<RunningCommand> start)
      throws Exception {
    Instant end = Instant.now().plusSeconds(60);
    while (true) {
      CommandLineRun run = start.get().await();
      if (!early.matcher(run.out() + run.err()).find() || Instant.now().isAfter(end)) {
        return run;
      }
    }
  }

  /** Waits until it has ended. */
  public CommandLineRun await() throws Exception {
    int code = exitCode.get(150, TimeUnit.SECONDS);
    return new CommandLineRun(code, out.toString(), err.toString());
  }

  public boolean hasEnded() {
    return exitCode.isDone();
  }

  public void interrupt() {
    thread.interrupt();
  }

  public boolean hasPrinted(String text) {
    return out.contains(text);
  }

  /** Waits until it has printed a text; fails when it ends before. */
  public void awaitOutput(String text) {
    await(out, text);
  }

  /** Waits until it has printed a text to standard error; fails when it ends before. */
  public String awaitError(String text) {
    await(err, text);
    return err.toString();
  }

  private void await(Printed printed, String text) {
    try {
      printed.awaitOr(text, this::hasEnded);
    } catch (InterruptedException e) {
      throw new AssertionError(text + " has not come: " + printed, e);
    }
    assertThat(printed.toString()).contains(text);
  }

  @Override
  public void close() {
    thread.interrupt();
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // the test is being ended
    }
  }
}
