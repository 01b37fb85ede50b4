package org.hghca.tools.perf.peers;

import java.io.IOException;
import java.io.PrintStream;
import java.time.Duration;
import java.util.List;
import org.hghca.programs.Json;
import org.hghca.programs.peer.PeerException;
import org.hghca.programs.perf.PerfException;
import org.hghca.programs.perf.medium.StreamMedium;
import org.hghca.verbs.VerbsException;

/**
 * What the JVMs of a row run. The first one measures, starts the second, and prints the row as
 * JSON; the second serves it over its standard input and output. Each ends when its standard input
 * does, which is when the process that has started it is gone.
 */
public final class RowMain {
  private static final String MEASURE = "measure";
  private static final String SERVE = "serve";

  private RowMain() {}

  /** The arguments of the first JVM of a row. */
  static List<String> measuring(Row row, Duration whole) {
    return List.of(MEASURE, row.name(), Long.toString(whole.toNanos()));
  }

  private static List<String> serving(Row row, long pair) {
    return List.of(SERVE, row.name(), Long.toString(pair));
  }

  /** Runs one side. */
  public static void main(String[] arguments) throws InterruptedException {
    PrintStream out = System.out;
    System.setOut(System.err); // what others print does not disturb the conversation
    Row row = Table.row(arguments[1]);
    long number = Long.parseLong(arguments[2]);
    Runnable side =
        arguments[0].equals(SERVE)
            ? () -> serve(row, number, out)
            : () -> out.println(Json.pretty(measure(row, Duration.ofNanos(number)).toJson()));
    Thread thread =
        row.waiting() == Waiting.VIRTUAL
            ? Thread.ofVirtual().name("end").start(side)
            : Thread.ofPlatform().name("end").start(side);
    thread.join();
    System.exit(0);
  }

  private static void serve(Row row, long pair, PrintStream out) {
    Server.serve(
        row, pair, new StreamMedium("the first JVM", System.in, out, Server.LIMIT, RowMain::end));
  }

  private static PeerRow measure(Row row, Duration whole) {
    Thread.ofPlatform().daemon().name("standard input").start(RowMain::endWithInput);
    long pair = ProcessHandle.current().pid();
    try (Partner partner = partner(row, pair)) {
      partner.await();
      try (End end = Ends.open(row, pair, partner.medium(), true)) {
        return new RowMeasurement(row, end, partner, whole).run();
      }
    } catch (IOException | PerfException | PeerException | VerbsException e) {
      return new PeerRow.Unmeasured(row.name(), PeerRow.why(e), true);
    } catch (InterruptedException _) {
      return new PeerRow.Unmeasured(row.name(), "interrupted", true);
    }
  }

  private static Partner partner(Row row, long pair) throws IOException {
    return row.carrier().joinsProcesses()
        ? Partner.inProcess(SecondJvm.command(List.of(), RowMain.class, serving(row, pair)))
        : Partner.inThread(row, pair);
  }

  private static void endWithInput() {
    try {
      while (System.in.read() >= 0) {
        // Nothing is expected.
      }
    } catch (IOException _) {
      // The same as its end.
    }
    end();
  }

  private static void end() {
    Runtime.getRuntime().halt(1);
  }
}
