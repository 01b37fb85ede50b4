package org.hghca.programs.perf.command;

import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.hghca.programs.StandardOutput;
import org.hghca.programs.perf.run.Progress;
import org.hghca.programs.perf.run.Watcher;
import picocli.CommandLine;

/**
 * The line that says on a terminal how far a measurement is; it is wiped before rows are printed.
 * Without a terminal there is none. Thread-safe.
 */
public final class ProgressLine implements AutoCloseable {
  private static final long PERIOD_MILLIS = 200;

  /** A longer line would wrap, and could not be wiped. */
  private static final int MOST = 78;

  private final List<PrintWriter> terminal;
  private Supplier<String> text = () -> "";
  private int shown;
  private boolean closed;

  private ProgressLine(List<PrintWriter> terminal) {
    this.terminal = terminal;
    if (!terminal.isEmpty()) {
      Thread.ofPlatform().daemon().name("progress").start(this::paint);
    }
  }

  /** On standard error or, if that is no terminal, on standard output. */
  public static ProgressLine on(CommandLine command) {
    return new ProgressLine(
        Stream.of(command.getErr(), command.getOut())
            .filter(to -> to instanceof StandardOutput output && output.isTerminal())
            .limit(1)
            .toList());
  }

  /** What is told of measurements; the line begins with a name. */
  Watcher named(String name) {
    return new Watcher() {
      @Override
      public void begins(Progress progress) {
        show(() -> name + ", " + progress.text());
      }

      @Override
      public void ends() {
        wipe();
      }
    };
  }

  /** Shows a line until another follows, or this is closed. */
  public void show(String line) {
    show(() -> line);
  }

  /** At once: what is shown may be over before the next period. */
  private synchronized void show(Supplier<String> line) {
    text = line;
    print(line.get());
  }

  /** Shows none until another follows. */
  public synchronized void wipe() {
    text = () -> "";
    print("");
  }

  private synchronized void paint() {
    try {
      while (!closed) {
        print(text.get());
        TimeUnit.MILLISECONDS.timedWait(this, PERIOD_MILLIS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // nobody does
    }
  }

  private void print(String line) {
    String cut = line.substring(0, Math.min(line.length(), MOST));
    if (cut.isEmpty() && shown == 0) {
      return;
    }
    String over = " ".repeat(Math.max(0, shown - cut.length()));
    for (PrintWriter to : terminal) {
      to.print("\r" + cut + over + (cut.isEmpty() ? "\r" : ""));
      to.flush();
    }
    shown = cut.length();
  }

  @Override
  public synchronized void close() {
    closed = true;
    notifyAll();
    wipe();
  }
}
