package org.hghca.tools.perf.peers;

import java.io.IOException;
import java.time.Duration;
import org.hghca.programs.peer.PeerException;
import org.hghca.programs.perf.PerfException;
import org.hghca.programs.perf.medium.Medium;
import org.hghca.tools.perf.CompilerRest;
import org.hghca.verbs.VerbsException;

/** The side of a row that does what the other side tells it. */
final class Server {
  /** What it says first. */
  static final byte[] HERE = {1};

  /** The longest wait of either side for what the other has to say. */
  static final Duration LIMIT = Duration.ofSeconds(30);

  private Server() {}

  /**
   * Serves until the client ends it. A failure is printed, and ends the conversation.
   *
   * @param pair as for {@link Ends#open}
   */
  static void serve(Row row, long pair, Medium medium) {
    try (medium) {
      medium.write(HERE);
      try (End end = Ends.open(row, pair, medium, false)) {
        Task task = next(medium);
        while (task.kind() != Task.Kind.END) {
          Outcome outcome = end.run(task);
          medium.write(new Report(outcome.processor(), CompilerRest.worked()).toMessage());
          task = next(medium);
        }
      }
    } catch (IOException | PerfException | PeerException | VerbsException e) {
      System.err.println("hghca: server of '%s': %s".formatted(row.name(), PeerRow.why(e)));
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt(); // nobody does
    }
  }

  private static Task next(Medium medium) throws InterruptedException {
    medium.limit(LIMIT);
    return Task.parse(medium.read("the next task", Task.LENGTH));
  }
}
