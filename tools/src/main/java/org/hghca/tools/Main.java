package org.hghca.tools;

import java.io.FileDescriptor;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.hghca.log.ConditionLog;
import org.hghca.programs.ExitCode;
import org.hghca.programs.FileFailure;
import org.hghca.programs.NotOpenedException;
import org.hghca.programs.OutlivesReader;
import org.hghca.programs.ReaderEndedException;
import org.hghca.programs.StandardOutput;
import org.hghca.programs.Version;
import org.hghca.programs.peer.PeerException;
import org.hghca.programs.perf.PerfException;
import org.hghca.tools.demo.CheckFailedException;
import org.hghca.tools.launch.BadSettingException;
import org.hghca.tools.launch.Launcher;
import org.hghca.tools.launch.LogConfigurator;
import org.hghca.tools.launch.Plugin;
import org.hghca.tools.launch.Settings;
import org.hghca.verbs.VerbsException;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.kernel.Machine;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.RunLast;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/** The command line {@code hghca}. */
@Command(
    name = "hghca",
    description = "User-space driver of the JingZhao (HanGu) RDMA HCA.",
    synopsisSubcommandLabel = "COMMAND")
public final class Main implements Runnable, Launcher {
  /** The environment variable with jars of plugins. */
  static final String ENVIRONMENT = "HGHCA_PLUGINS";

  /** The system property with the name of the program for those who look at it from outside. */
  private static final String PROGRAM = "hghca.program";

  @Spec private CommandSpec spec;

  private final Settings settings = new Settings();

  @Option(
      names = "--debug",
      scope = ScopeType.INHERIT,
      description = "Show every command to the card, and stack traces.")
  private boolean debug;

  @Option(
      names = "--plugin",
      paramLabel = "<jar>",
      scope = ScopeType.INHERIT,
      description =
          "Load a backend from outside. May be given more than once; "
              + ENVIRONMENT
              + " holds more, separated by colons, but not for root.")
  private List<Path> jars = new ArrayList<>();

  private final Machine machine;
  private List<Plugin> plugins = List.of();

  private Main(Machine machine) {
    this.machine = machine;
  }

  /** Runs the command line and ends the process with its exit code. */
  public static void main(String[] args) {
    // Programs also parse this output: digits and decimal points do not depend on the locale.
    Locale.setDefault(Locale.ROOT);
    nameProgram(args);
    Thread.setDefaultUncaughtExceptionHandler(
        (thread, e) ->
            System.err.println("hghca: thread '%s': %s".formatted(thread.getName(), internal(e))));
    System.exit(
        run(
            Machine.local(),
            StandardOutput.of(FileDescriptor.out, System.out.charset()),
            StandardOutput.of(FileDescriptor.err, System.err.charset()),
            args));
  }

  /** What 'hghca top' calls this process: the command, without its options. */
  private static void nameProgram(String... args) {
    if (System.getProperty(PROGRAM) == null) {
      Stream<String> command = Stream.of(args).takeWhile(word -> !word.startsWith("-")).limit(2);
      System.setProperty(
          PROGRAM, Stream.concat(Stream.of("hghca"), command).collect(Collectors.joining(" ")));
    }
  }

  /**
   * Runs the command line.
   *
   * @param machine whose functions are bound and whose configuration is checked
   * @return the number of an {@link ExitCode}
   */
  public static int run(Machine machine, PrintWriter out, PrintWriter err, String... args) {
    return run(machine, System.getenv(), out, err, args);
  }

  /**
   * Runs the command line.
   *
   * @param environment variables by name
   */
  public static int run(
      Machine machine,
      Map<String, String> environment,
      PrintWriter out,
      PrintWriter err,
      String... args) {
    Main main = new Main(machine);
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    Optional<StandardOutput> standard =
        out instanceof StandardOutput output ? Optional.of(output) : Optional.empty();
    standard.ifPresent(output -> output.endWithReader(thread));
    int exitCode;
    try {
      exitCode =
          commandLine(main, args)
              .setOut(out)
              .setErr(err)
              .setExecutionStrategy(
                  parsed -> {
                    if (outlivesReader(parsed)) {
                      standard.ifPresent(StandardOutput::outliveReader);
                    }
                    return main.execute(parsed, environment);
                  })
              .setExecutionExceptionHandler(
                  (exception, command, parsed) -> {
                    if (exception instanceof ReaderEndedException) {
                      return ExitCode.OK.code();
                    }
                    main.complain(exception);
                    return main.exitCode(exception).code();
                  })
              .execute(args);
    } catch (Error e) { // as when memory runs out, or a library is missing
      main.complain(e);
      exitCode = ExitCode.FAILED.code();
    } finally {
      ConditionLog.reportAll(); // the process may end
      standard.ifPresent(StandardOutput::outliveReader);
      thread.setContextClassLoader(before); // programs also run this
    }
    if (exitCode == ExitCode.INTERRUPTED.code()
        && standard.filter(StandardOutput::hasEndedCommand).isPresent()) {
      exitCode = ExitCode.OK.code();
    }
    boolean failed = out.checkError();
    if (failed) {
      Optional<String> why = standard.flatMap(StandardOutput::failure);
      err.println("hghca: the output could not be written" + why.map(": "::concat).orElse(""));
    }
    err.flush();
    return failed && exitCode == 0 ? ExitCode.NO_OUTPUT.code() : exitCode;
  }

  private static boolean outlivesReader(ParseResult parsed) {
    ParseResult last = parsed;
    while (last.hasSubcommand()) {
      last = last.subcommand();
    }
    return last.commandSpec().userObject() instanceof OutlivesReader command
        && command.outlivesReader();
  }

  /** The command line for parsing and documentation, with all commands. */
  static CommandLine commandLine() {
    return commandLine(new Main(Machine.local()));
  }

  private static CommandLine commandLine(Main main, String... args) {
    CommandLine commandLine = new CommandLine(main);
    commandLine.setParameterExceptionHandler(Main::refuse);
    Subcommands.neededFor(args).forEach(commandLine::addSubcommand);
    main.settings.addOptions(commandLine.getCommandSpec());
    complete(commandLine);
    return commandLine;
  }

  /** Gives a command what all have: options for help and the version, and the exit codes. */
  private static void complete(CommandLine command) {
    CommandSpec spec = command.getCommandSpec().versionProvider(new Version());
    if (spec.findOption("-V") == null) { // else it brings its own
      spec.mixinStandardHelpOptions(true);
    }
    spec.addOption(
        OptionSpec.builder(ShortHelp.ALL)
            .usageHelp(true)
            .description("Show all options, and the exit codes.")
            .build());
    boolean original = spec.exitCodeOnInvalidInput() == ExitCode.FAILED.code();
    spec.usageMessage()
        .exitCodeListHeading("Exit codes:%n")
        .exitCodeList(original ? ExitCode.ofOriginals() : ExitCode.list());
    command.getSubcommands().values().forEach(Main::complete);
  }

  /** Wrong usage: what is wrong, and how the command is called. */
  private static int refuse(ParameterException exception, String... args) {
    CommandLine command = exception.getCommandLine();
    PrintWriter err = command.getErr();
    err.println(exception.getMessage());
    boolean _ = CommandLine.UnmatchedArgumentException.printSuggestions(exception, err);
    ShortHelp.of(command).forEach(err::println);
    return command.getCommandSpec().exitCodeOnInvalidInput();
  }

  /** Prints the help that an option asks for; says whether one does. */
  private static boolean helps(ParseResult parsed) {
    for (CommandLine command : parsed.asCommandLineList()) {
      if (command.isUsageHelpRequested()) {
        PrintWriter out = command.getOut();
        if (command.getParseResult().hasMatchedOption(ShortHelp.ALL)) {
          command.usage(out);
        } else {
          ShortHelp.of(command).forEach(out::println);
        }
        return true;
      }
    }
    return false;
  }

  private int execute(ParseResult parsed, Map<String, String> environment) {
    try (settings) {
      if (helps(parsed)) {
        return ExitCode.OK.code();
      }
      settings.apply(environment);
      return executeWithSettings(parsed, environment);
    } catch (BadSettingException e) {
      spec.commandLine().getErr().println("hghca: " + e.getMessage());
      return ExitCode.USAGE.code();
    } catch (ReaderEndedException _) {
      return ExitCode.OK.code(); // while it printed help
    }
  }

  private int executeWithSettings(ParseResult parsed, Map<String, String> environment) {
    if (debug) {
      // Before the first logger, which is the driver's.
      System.setProperty(LogConfigurator.LEVEL, "DEBUG");
    }
    try {
      loadPlugins(environment.getOrDefault(ENVIRONMENT, ""));
    } catch (VfioException e) {
      complain(e);
      return ExitCode.USAGE.code();
    }
    return new RunLast().execute(parsed);
  }

  /** Root only runs plugins that root names explicitly, not those of the environment. */
  private void loadPlugins(String more) {
    PrintWriter err = spec.commandLine().getErr();
    List<Path> all = new ArrayList<>();
    if (!more.isEmpty() && machine.isRoot()) {
      err.println("hghca: " + ENVIRONMENT + " is ignored for root: use --plugin");
    } else {
      Arrays.stream(more.split(":")).filter(jar -> !jar.isEmpty()).map(Path::of).forEach(all::add);
    }
    all.addAll(jars);
    plugins = Plugin.load(all);
    plugins.forEach(plugin -> err.println("hghca: plugin " + plugin.describe()));
  }

  @Override
  public ExitCode exitCode(Exception exception) {
    return switch (exception) {
      case NotOpenedException _ -> ExitCode.NOT_OPENED;
      case VfioException e when e.reason() == VfioException.Reason.NOT_FOUND -> ExitCode.NOT_OPENED;
      default -> ExitCode.FAILED;
    };
  }

  @Override
  public List<Plugin> plugins() {
    return plugins;
  }

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "Missing command");
  }

  @Override
  public Machine machine() {
    return machine;
  }

  @Override
  public void complain(Throwable exception) {
    PrintWriter err = spec.commandLine().getErr();
    boolean expected =
        exception instanceof VerbsException
            || exception instanceof VfioException
            || exception instanceof NotOpenedException
            || exception instanceof CheckFailedException
            || exception instanceof PerfException
            || exception instanceof PeerException;
    err.println("hghca: " + (expected ? exception.getMessage() : internal(exception)));
    for (Throwable suppressed : exception.getSuppressed()) {
      if (suppressed instanceof PeerException) {
        err.println("hghca: " + suppressed.getMessage());
      }
    }
    if (debug) {
      exception.printStackTrace(err);
    }
  }

  /** In words: an exception that nobody expected is not for the person who called a command. */
  private static String internal(Throwable exception) {
    return switch (exception) {
      case UncheckedIOException e -> FileFailure.why(e.getCause());
      case OutOfMemoryError _ -> "out of memory: JDK_JAVA_OPTIONS=-Xmx2g allows more";
      default ->
          "internal error: %s; --debug shows where"
              .formatted(
                  exception.getMessage() == null
                      ? exception.getClass().getSimpleName()
                      : exception.getMessage());
    };
  }
}
