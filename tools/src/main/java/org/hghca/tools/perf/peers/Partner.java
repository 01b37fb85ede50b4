package org.hghca.tools.perf.peers;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.hghca.programs.peer.PeerException;
import org.hghca.programs.perf.medium.LocalMedium;
import org.hghca.programs.perf.medium.Medium;
import org.hghca.programs.perf.medium.StreamMedium;
import org.hghca.tools.perf.CompilerRest;

/** The server of a row, as the client has it: a JVM or a thread of its own. Not thread-safe. */
final class Partner implements AutoCloseable {
  private static final int END_SECONDS = 5;

  private final Medium medium;
  private final Ending ending;
  private final boolean separate;

  private interface Ending {
    void await() throws InterruptedException;
  }

  private Partner(Medium medium, Ending ending, boolean separate) {
    this.medium = medium;
    this.ending = ending;
    this.separate = separate;
  }

  /**
   * In a thread of this process.
   *
   * @param pair as for {@link Ends#open}
   */
  static Partner inThread(Row row, long pair) {
    List<Medium> ends = LocalMedium.pair(Server.LIMIT);
    Thread thread =
        Thread.ofPlatform()
            .daemon()
            .name("server")
            .start(() -> Server.serve(row, pair, ends.getFirst()));
    return new Partner(ends.getLast(), () -> thread.join(Duration.ofSeconds(END_SECONDS)), false);
  }

  /**
   * In a process.
   *
   * @param command that starts it; its standard input and output carry the conversation
   */
  static Partner inProcess(List<String> command) throws IOException {
    Process process = new ProcessBuilder(command).redirectError(Redirect.INHERIT).start();
    Medium medium =
        new StreamMedium(
            "the second JVM",
            process.getInputStream(),
            process.getOutputStream(),
            Server.LIMIT,
            () -> {});
    return new Partner(
        medium,
        () -> {
          try {
            boolean _ = process.waitFor(END_SECONDS, TimeUnit.SECONDS);
          } finally {
            process.destroyForcibly().waitFor();
          }
        },
        true);
  }

  /** What it says and is told. */
  Medium medium() {
    return medium;
  }

  /** Waits until it runs. */
  void await() throws InterruptedException {
    byte[] _ = medium.read("its first byte", Server.HERE.length);
  }

  /** Tells it the next task, which it begins at once. */
  void begin(Task task) throws InterruptedException {
    medium.write(task.toMessage());
  }

  /** Waits for the end of the task; what the processor ran for this process is not in it. */
  Report report() throws InterruptedException {
    medium.limit(Server.LIMIT);
    Report report = Report.parse(medium.read("its report", Report.LENGTH));
    return separate ? report : new Report(0, CompilerRest.worked());
  }

  /** Ends it, at once when it does not end by itself. */
  @Override
  public void close() {
    try {
      try (medium) {
        medium.write(Task.END.toMessage());
      } catch (PeerException _) {
        // It has ended before.
      }
      ending.await();
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }
}
