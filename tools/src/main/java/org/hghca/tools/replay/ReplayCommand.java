package org.hghca.tools.replay;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.hghca.abi.HardwareProfile;
import org.hghca.programs.ExitCode;
import org.hghca.programs.FileFailure;
import org.hghca.programs.Interruption;
import org.hghca.programs.Json;
import org.hghca.programs.OutlivesReader;
import org.hghca.tools.bringup.board.BoardOptions;
import org.hghca.tools.raw.CardStoppedException;
import org.hghca.vfio.DriverParameter;
import org.hghca.vfio.Locator;
import org.hghca.vfio.VfioException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code hghca replay}: a recorded run on another card, up to the first difference. */
@Command(
    name = "replay",
    description = {
      "Play a run that was recorded with --trace=FILE,full on another card of the same profile: the"
          + " same commands, memory and doorbells, with the bus addresses of this card. It ends at"
          + " the first difference in the status or the outbox of a command, or in the n-th CQE of"
          + " a CQ.",
      "The card belongs to this command while it runs, and is reset before and after if it can be"
          + " reset. Data that the run received from another device does not arrive again.",
      "Exit code 0 when there is no difference, 1 when there is one, 2 when the trace cannot be"
          + " played."
    })
public final class ReplayCommand implements Callable<Integer>, OutlivesReader {
  @Spec private CommandSpec spec;

  @Mixin private BoardOptions board;

  @Option(names = "--json", description = "Print JSON.")
  private boolean json;

  @Parameters(index = "0", paramLabel = "<file>", description = "The trace.")
  private Path file;

  @Override
  public Integer call() {
    try {
      WholeTrace trace = WholeTrace.open(file);
      String device = board.locator();
      Locator locator = Locator.parse(device);
      Duration limit = board.limit(device);
      try (Interruption _ =
              new Interruption(Thread.currentThread()::interrupt, ExitCode.INTERRUPTED);
          ReplayCard card = ReplayCard.open(locator, trace, profile(locator), limit);
          Replay replay = new Replay(trace, card)) {
        return play(replay).code();
      }
    } catch (UnplayableException e) {
      return failed(ExitCode.USAGE, e.getMessage());
    } catch (IOException e) {
      return failed(ExitCode.USAGE, "%s cannot be read: %s".formatted(file, FileFailure.why(e)));
    } catch (VfioException e) {
      boolean gone = e.reason() == VfioException.Reason.CLOSED;
      return failed(gone ? ExitCode.STOPPED : ExitCode.NOT_OPENED, e.getMessage());
    } catch (CardStoppedException e) {
      return failed(ExitCode.STOPPED, e.getMessage());
    } catch (IllegalStateException e) {
      if (Thread.interrupted()) {
        return failed(ExitCode.INTERRUPTED, e.getMessage());
      }
      throw e;
    }
  }

  private ExitCode play(Replay replay) throws IOException {
    PrintWriter out = spec.commandLine().getOut();
    Optional<Difference> found = replay.run();
    if (json) {
      out.println(Json.document(json(replay, found)));
      return found.isEmpty() ? ExitCode.OK : ExitCode.FAILED;
    }
    if (found.isEmpty()) {
      out.printf(
          "no difference: %d commands, %d doorbells, %d CQEs%n",
          replay.commands(), replay.doorbells(), replay.completions());
      return ExitCode.OK;
    }
    Difference difference = found.get();
    String step = replay.step().isEmpty() ? "" : ", step " + replay.step();
    out.printf("first difference: %s (line %d%s)%n", difference.what(), replay.line(), step);
    out.println("  recorded  " + difference.recorded());
    out.println("  here      " + difference.here());
    return ExitCode.FAILED;
  }

  private static Map<String, Object> json(Replay replay, Optional<Difference> found) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("commands", replay.commands());
    json.put("doorbells", replay.doorbells());
    json.put("completions", replay.completions());
    found.ifPresent(
        difference -> {
          Map<String, Object> first = new LinkedHashMap<>();
          first.put("what", difference.what());
          first.put("line", replay.line());
          first.put("step", replay.step());
          first.put("recorded", difference.recorded());
          first.put("here", difference.here());
          json.put("first_difference", first);
        });
    return json;
  }

  private Optional<HardwareProfile> profile(Locator locator) {
    try {
      return board
          .profile()
          .or(() -> locator.parameter(DriverParameter.AS.key()).map(HardwareProfile::byName));
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), "as= of the locator: " + e.getMessage(), e);
    }
  }

  private int failed(ExitCode exit, String why) {
    spec.commandLine().getErr().println("hghca: " + why);
    return exit.code();
  }
}
