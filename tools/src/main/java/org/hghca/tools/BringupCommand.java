package org.hghca.tools;

import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import org.hghca.tools.bringup.Bringup;
import org.hghca.tools.bringup.BringupOptions;
import org.hghca.tools.bringup.BringupReport;
import org.hghca.tools.bringup.HtmlOutput;
import org.hghca.tools.bringup.JsonOutput;
import org.hghca.tools.bringup.JunitOutput;
import org.hghca.tools.bringup.Loop;
import org.hghca.tools.bringup.Step;
import org.hghca.tools.bringup.TextOutput;
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
    mixinStandardHelpOptions = true,
    versionProvider = Version.class)
final class BringupCommand implements Callable<Integer>, OutlivesReader {
  private static final String AUTO = "auto";
  private static final String PEER = "peer=";

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
      names = "--only",
      paramLabel = "<id>",
      split = ",",
      description = "Run these steps, and those that they need.")
  private List<String> only = List.of();

  @Option(
      names = "--skip",
      paramLabel = "<id>",
      split = ",",
      description = "Skip these steps, and those that need them.")
  private List<String> skip = List.of();

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
    Bringup session = new Bringup(options);
    if (options.profile().isPresent() && !session.isOfCard()) {
      throw wrong("--profile is an option for cards, and %s is none".formatted(options.device()));
    }
    checkIds(session.steps(), options.only());
    checkIds(session.steps(), options.skip());
    List<ReportFile<BringupReport>> files = files();
    long onStdout = files.stream().filter(ReportFile::isStdout).count();
    if (onStdout > 1) {
      throw wrong("only one of --json, --junit and --html can go to stdout");
    }
    try {
      files.forEach(ReportFile::check);
    } catch (UncheckedIOException e) {
      complain(e);
      return ExitCode.NO_OUTPUT.code();
    }
    boolean quiet = onStdout > 0;
    PrintWriter steps = quiet ? new PrintWriter(Writer.nullWriter()) : out();
    TextOutput text = new TextOutput(steps, verbose, session.steps().size());
    try (Interruption _ =
        new Interruption(Thread.currentThread()::interrupt, ExitCode.INTERRUPTED)) {
      BringupReport report = session.run(text);
      text.summary(report);
      boolean written = write(files, report);
      out().flush();
      int exitCode = report.outcome().exitCode();
      return exitCode == 0 && !written ? ExitCode.NO_OUTPUT.code() : exitCode;
    }
  }

  private List<ReportFile<BringupReport>> files() {
    List<ReportFile<BringupReport>> files = new ArrayList<>();
    if (json != null) {
      files.add(new ReportFile<>(json, report -> PrettyJson.of(JsonOutput.of(report))));
    }
    if (junit != null) {
      files.add(new ReportFile<>(junit, JunitOutput::of));
    }
    if (html != null) {
      files.add(new ReportFile<>(html, HtmlOutput::of));
    }
    return files;
  }

  /** Writes all that can be written; returns whether that is everything. */
  private boolean write(List<ReportFile<BringupReport>> files, BringupReport report) {
    boolean written = true;
    for (ReportFile<BringupReport> file : files) {
      try {
        file.write(report, out());
      } catch (UncheckedIOException e) {
        complain(e);
        written = false;
      }
    }
    return written;
  }

  private void complain(UncheckedIOException e) {
    spec.commandLine().getErr().println("hghca: " + e.getMessage());
  }

  private PrintWriter out() {
    return spec.commandLine().getOut();
  }

  private BringupOptions options() {
    boolean peer = loop.startsWith(PEER);
    if (seconds < 0 || seconds > 60 || Double.isNaN(seconds)) {
      throw wrong("--seconds must be from 0 to 60");
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
        new HashSet<>(only),
        new HashSet<>(skip));
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
