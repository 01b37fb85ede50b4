package org.hghca.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.hghca.vfio.kernel.Machine;

/** A command in a thread of its own, which {@link #close} interrupts. */
@SuppressWarnings("try") // an interrupt ends the test
final class RunningCommand implements AutoCloseable {
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();
  private final CompletableFuture<Integer> exitCode = new CompletableFuture<>();
  private final Thread thread;

  private RunningCommand(String... words) {
    thread =
        Thread.ofPlatform()
            .name(String.join(" ", words))
            .start(
                () ->
                    exitCode.complete(
                        Main.run(
                            Machine.local(),
                            new PrintWriter(out, true),
                            new PrintWriter(err, true),
                            words)));
  }

  /** Starts a command, whose words are between spaces. */
  static RunningCommand start(String command) {
    return new RunningCommand(command.split(" "));
  }

  /** Waits until it has ended. */
  CommandLineRun await() throws Exception {
    int code = exitCode.get(60, TimeUnit.SECONDS);
    return new CommandLineRun(code, out.toString(), err.toString());
  }

  boolean hasEnded() {
    return exitCode.isDone();
  }

  void interrupt() {
    thread.interrupt();
  }

  boolean hasPrinted(String text) {
    return out.toString().contains(text);
  }

  /** Waits until it has printed a text; fails when it ends before. */
  void awaitOutput(String text) {
    while (!hasPrinted(text) && !hasEnded()) {
      Thread.onSpinWait();
    }
    assertThat(out.toString()).contains(text);
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
