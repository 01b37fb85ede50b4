package org.hghca.tools.bringup.command;

import java.io.PrintWriter;
import java.io.Writer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import org.hghca.programs.CompletedValues;
import org.hghca.programs.ExitCode;
import org.hghca.programs.GivenCommand;
import org.hghca.programs.Interruption;
import org.hghca.programs.Json;
import org.hghca.programs.OutlivesReader;
import org.hghca.programs.ReportFile;
import org.hghca.programs.TraceOption;
import org.hghca.programs.Version;
import org.hghca.programs.perf.command.ProgressLine;
import org.hghca.programs.perf.page.Environment;
import org.hghca.tools.bringup.Bringup;
import org.hghca.tools.bringup.BringupReport;
import org.hghca.tools.bringup.Progress;
import org.hghca.tools.bringup.Rounds;
import org.hghca.tools.bringup.board.Bench;
import org.hghca.tools.bringup.board.BoardOptions;
import org.hghca.tools.bringup.board.BringupOptions;
import org.hghca.tools.bringup.board.Effort;
import org.hghca.tools.bringup.board.Loop;
import org.hghca.tools.bringup.report.HtmlOutput;
import org.hghca.tools.bringup.report.JsonLines;
import org.hghca.tools.bringup.report.JsonOutput;
import org.hghca.tools.bringup.report.JunitOutput;
import org.hghca.tools.bringup.report.Origin;
import org.hghca.tools.bringup.report.TextOutput;
import org.hghca.tools.bringup.step.Step;
import org.hghca.tools.bringup.step.StepResult;
import org.hghca.tools.bringup.step.StepWatcher;
import org.hghca.tools.launch.OptionPlace;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code hghca bringup}: a board, step by step, with a verdict for each. */
@Command(
    name = "bringup",
    description = {
      "Bring a board up step by step, and report what each step expected and saw: PCI, HCR,"
          + " commands, tables, queue pairs, every operation with data, errors, events, speed. Of a"
          + " virtio network device: features, negotiation, queues, control commands, a frame, and"
          + " with RoCE the same operations.",
      "Without a loop, steps with data are skipped, which is no failure. The board belongs to this"
          + " command while it runs, and is reset before and after. Ctrl-C ends it and writes the"
          + " report of the completed steps."
    },
    subcommands = BringupCompareCommand.class)
public final class BringupCommand implements Callable<Integer>, OutlivesReader {
  private static final String AUTO = "auto";
  private static final String PEER = "peer=";
  private static final int MOST_ROUNDS = 100_000;

  @Spec private CommandSpec spec;

  @Mixin private BoardOptions boardOptions;
  @Mixin private TraceOption trace;

  @Option(
      names = "--loop",
      paramLabel = "<kind>",
      description =
          "How data returns: auto, none, plug, or peer=<locator>. auto sends one message and"
              + " waits for it (default: auto).")
  private String loop = AUTO;

  @Option(
      names = "--destructive",
      description = "Run also the steps that can stop a card; a reset follows each.")
  private boolean destructive;

  @Option(
      names = "--seconds",
      paramLabel = "<n>",
      description = "How long each speed is measured, 0 to 60 (default: ${DEFAULT-VALUE}).")
  private double seconds = 0.3;

  @Option(
      names = "--budget",
      paramLabel = "<duration>",
      description =
          "How long the steps data.* test by amount, together, such as PT1M (default: PT10S, times"
              + " slow= of the locator).")
  private Duration budget;

  @Option(
      names = "--soak",
      paramLabel = "<duration>",
      description = "Send messages for so long, such as PT8H, and log each error.")
  private Duration soak = Duration.ZERO;

  @Option(
      names = "--only",
      completionCandidates = CompletedValues.Steps.class,
      paramLabel = "<id>",
      split = ",",
      description = "Run these steps, and those that they need.")
  private List<String> only = List.of();

  @Option(
      names = "--from",
      completionCandidates = CompletedValues.Steps.class,
      paramLabel = "<id>",
      description = "Run this step and all later ones, and those that they need.")
  private String from;

  @Option(
      names = "--repeat",
      paramLabel = "<n>",
      description =
          "Run the chosen steps this often, each time from the opening of the board to its release,"
              + " and count the failures of each (default: ${DEFAULT-VALUE}).")
  private int repeat = 1;

  @Option(
      names = "--skip",
      completionCandidates = CompletedValues.Steps.class,
      paramLabel = "<id>",
      split = ",",
      description = "Skip these steps, and those that need them.")
  private List<String> skip = List.of();

  @Option(
      names = "--keep",
      completionCandidates = CompletedValues.Steps.class,
      arity = "0..1",
      fallbackValue = "",
      paramLabel = "<id>",
      description =
          "End at the first step that fails, or at this one, and open the prompt of 'hghca card' on"
              + " the card as that step has left it. The lines are those of standard input.")
  private String keep;

  @Option(
      names = "--mark",
      description =
          "From hcr.nop on, give a NOP before each step with the step's number as token, for the"
              + " trigger of a logic analyzer.")
  private boolean mark;

  @Option(
      names = {"-l", "--list"},
      description = "Print the steps and their sources, and access no device.")
  private boolean list;

  @Option(
      names = {"-v", "--verbose"},
      description = "Print what every step saw, and its commands.")
  private boolean verbose;

  @Option(names = "--json", paramLabel = "<file>", description = "Write JSON; - is stdout.")
  private String json;

  @Option(
      names = "--json-lines",
      paramLabel = "<file>",
      description =
          "Write a line of JSON for each step as it ends, which outlives the end of this process;"
              + " - is stdout.")
  private String jsonLines;

  @Option(names = "--junit", paramLabel = "<file>", description = "Write JUnit XML; - is stdout.")
  private String junit;

  @Option(
      names = "--html",
      paramLabel = "<file>",
      description = "Write one self-contained HTML page; - is stdout.")
  private String html;

  @Override
  public Integer call() {
    return trace.around(this::bringUp);
  }

  private int bringUp() {
    if (list) {
      TextOutput.list(out(), new Bringup(BringupOptions.of("model:")).steps());
      out().print("\nA virtio network device:\n");
      TextOutput.list(out(), new Bringup(BringupOptions.of("virtio:")).steps());
      return 0;
    }
    BringupOptions options = options();
    Bench bench = new Bench(mark, keep != null, keep == null ? "" : keep);
    Rounds rounds = new Rounds(options, bench, repeat);
    Bringup session = rounds.session();
    if (options.profile().isPresent() && !session.isOfCard()) {
      throw wrong("--profile is an option for cards, and %s is none".formatted(options.device()));
    }
    checkIds(session.steps(), options.only());
    checkIds(session.steps(), options.skip());
    if (from != null) {
      checkIds(session.steps(), Set.of(from));
      rounds.from(from);
    }
    checkBench(session);
    List<ReportFile<BringupReport>> files = files();
    Optional<LineFile> lines =
        Optional.ofNullable(jsonLines).map(name -> new LineFile(name, out(), err()));
    long onStdout =
        files.stream().filter(ReportFile::isStdout).count()
            + lines.filter(LineFile::isStdout).stream().count();
    if (onStdout > 1) {
      throw wrong("only one of --json, --json-lines, --junit and --html can go to stdout");
    }
    if (keep != null && onStdout > 0) {
      throw wrong("--keep needs stdout for its prompt: write the report to a file");
    }
    if (!ReportFile.tries(err(), () -> files.forEach(ReportFile::check))
        || !ReportFile.tries(err(), () -> lines.ifPresent(LineFile::open))) {
      return ExitCode.NO_OUTPUT.code();
    }
    PrintWriter steps = onStdout > 0 ? new PrintWriter(Writer.nullWriter()) : out();
    TextOutput text = new TextOutput(steps, verbose, session.steps().size(), repeat, soak);
    try (Interruption _ =
            new Interruption(Thread.currentThread()::interrupt, ExitCode.INTERRUPTED);
        rounds;
        ProgressLine line = ProgressLine.on(spec.commandLine())) {
      JsonLines json = new JsonLines(record -> lines.ifPresent(file -> file.write(record)));
      json.start(origin(), session.device(), repeat, session.steps());
      BringupReport report = rounds.run(wiping(line).and(text).and(json), watcher(line, steps));
      text.summary(report);
      boolean written = write(files, report);
      out().flush();
      if (!rounds.session().keptAt().isEmpty()) {
        new KeptPrompt(out(), err()).open(rounds.session());
        rounds.close();
        BringupReport released = rounds.released(report);
        if (released.notReleased().isPresent()) {
          text.notReleased(released.notReleased().get());
          report = released;
          written &= write(files, report);
        }
      }
      json.end(report);
      written &= lines.map(LineFile::isWhole).orElse(true);
      int exitCode = report.outcome().exitCode();
      return exitCode == 0 && !written ? ExitCode.NO_OUTPUT.code() : exitCode;
    } finally {
      lines.ifPresent(LineFile::close);
    }
  }

  /** A line of progress goes when there is something else to print. */
  private static Progress wiping(ProgressLine line) {
    return new Progress() {
      @Override
      public void round(int number) {
        line.wipe();
      }

      @Override
      public void step(StepResult result) {
        line.wipe();
      }
    };
  }

  private static StepWatcher watcher(ProgressLine progress, PrintWriter out) {
    return new StepWatcher() {
      @Override
      public void progress(String line) {
        progress.show(line);
      }

      @Override
      public void error(String line) {
        progress.wipe();
        out.println(line);
        out.flush();
      }
    };
  }

  private void checkBench(Bringup session) {
    if ((mark || keep != null) && !session.isOfCard()) {
      throw wrong(
          "--keep and --mark are options for cards: their prompt and their NOP use the command"
              + " register, which a virtio device does not have");
    }
    if (keep != null && !keep.isEmpty()) {
      checkIds(session.steps(), Set.of(keep));
      Optional<String> leftOut = session.leftOut(keep);
      if (leftOut.isPresent()) {
        throw wrong("--keep=%s names a step that does not run: %s".formatted(keep, leftOut.get()));
      }
    }
  }

  /**
   * Checks that no option precedes the name of a command.
   *
   * @throws ParameterException when one does
   */
  void checkOptionsFollow(CommandSpec command) {
    OptionPlace.check(spec, command);
  }

  private Origin origin() {
    return new Origin(
        Version.hghca(), Version.commit(), GivenCommand.line(spec), Environment.machine());
  }

  private List<ReportFile<BringupReport>> files() {
    Origin origin = origin();
    List<ReportFile<BringupReport>> files = new ArrayList<>();
    if (json != null) {
      files.add(new ReportFile<>(json, report -> Json.pretty(JsonOutput.of(origin, report))));
    }
    if (junit != null) {
      files.add(new ReportFile<>(junit, report -> JunitOutput.of(origin, report)));
    }
    if (html != null) {
      files.add(new ReportFile<>(html, report -> HtmlOutput.of(origin, report)));
    }
    return files;
  }

  /** Writes all that can be written; returns whether that is everything. */
  private boolean write(List<ReportFile<BringupReport>> files, BringupReport report) {
    boolean written = true;
    for (ReportFile<BringupReport> file : files) {
      written &= ReportFile.tries(err(), () -> file.write(report, out()));
    }
    return written;
  }

  private PrintWriter err() {
    return spec.commandLine().getErr();
  }

  private PrintWriter out() {
    return spec.commandLine().getOut();
  }

  private BringupOptions options() {
    boolean peer = loop.startsWith(PEER);
    if (seconds < 0 || seconds > 60 || Double.isNaN(seconds)) {
      throw wrong("--seconds must be from 0 to 60");
    }
    if (repeat < 1 || repeat > MOST_ROUNDS) {
      throw wrong("--repeat must be from 1 to %,d".formatted(MOST_ROUNDS));
    }
    if (from != null && !only.isEmpty()) {
      throw wrong("--from and --only both choose steps: give one of them");
    }
    Loop kind =
        switch (loop) {
          case AUTO -> Loop.AUTO;
          case "none" -> Loop.NONE;
          case "plug" -> Loop.PLUG;
          default -> {
            if (!peer) {
              throw wrong("--loop=" + loop + " must be auto, none, plug or peer=<locator>");
            }
            yield Loop.PEER;
          }
        };
    String board = boardOptions.locator();
    Duration answer = boardOptions.limit(board);
    return new BringupOptions(
        trace.traced(board),
        boardOptions.profile(),
        kind,
        peer ? trace.traced(boardOptions.locator(loop.substring(PEER.length()))) : "",
        destructive,
        answer,
        BringupOptions.patience(answer),
        Duration.ofNanos((long) (seconds * 1e9)),
        effort(board),
        new HashSet<>(only),
        new HashSet<>(skip));
  }

  private Effort effort(String board) {
    if (soak.isNegative() || budget != null && !budget.isPositive()) {
      throw wrong("--budget must be more than 0 and --soak must not be negative");
    }
    Effort effort = Effort.of(board).withSoak(soak);
    return budget == null ? effort : effort.withBudget(budget);
  }

  private void checkIds(List<Step> steps, Set<String> ids) {
    List<String> unknown = new ArrayList<>(ids);
    steps.forEach(step -> unknown.remove(step.id()));
    if (!unknown.isEmpty()) {
      throw wrong("no step is named " + String.join(", ", unknown) + ": --list shows them");
    }
  }

  private ParameterException wrong(String message) {
    return new ParameterException(spec.commandLine(), message);
  }
}
