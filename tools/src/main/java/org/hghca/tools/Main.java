package org.hghca.tools;

import java.io.PrintStream;
import java.io.PrintWriter;
import java.util.Locale;
import org.hghca.tools.demo.CheckFailedException;
import org.hghca.verbs.VerbsException;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.kernel.Machine;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.HelpCommand;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.RunLast;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/** The command line {@code hghca}. */
@Command(
    name = "hghca",
    description = "User-space driver of the JingZhao (HanGu) RDMA HCA.",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    synopsisSubcommandLabel = "COMMAND",
    subcommands = {
      DemoCommand.class,
      ListCommand.class,
      InfoCommand.class,
      BringupCommand.class,
      ModelCommand.class,
      BindCommand.class,
      UnbindCommand.class,
      HelpCommand.class
    })
public final class Main implements Runnable {
  /** The system property that the configuration of the log takes its level from. */
  private static final String LOG_LEVEL = "hghca.log";

  @Spec private CommandSpec spec;

  @Option(
      names = "--debug",
      scope = ScopeType.INHERIT,
      description = "Show every command to the card, and stack traces.")
  private boolean debug;

  private final Machine machine;

  private Main(Machine machine) {
    this.machine = machine;
  }

  /** Runs the command line and ends the process with its exit code. */
  public static void main(String[] args) {
    // Programs read this, too: the same digits and points everywhere.
    Locale.setDefault(Locale.ROOT);
    System.exit(run(Machine.local(), writer(System.out), writer(System.err), args));
  }

  private static PrintWriter writer(PrintStream stream) {
    return new PrintWriter(stream, true, stream.charset());
  }

  /**
   * Runs the command line.
   *
   * @param machine whose functions are bound and whose set-up is looked at
   * @return the exit code: 0; 1 when something failed; 2 for wrong usage; {@code info} and {@code
   *     bringup} have their own
   */
  static int run(Machine machine, PrintWriter out, PrintWriter err, String... args) {
    Main main = new Main(machine);
    CommandLine commandLine =
        new CommandLine(main)
            .setOut(out)
            .setErr(err)
            .setExecutionStrategy(
                parsed -> {
                  if (main.debug) {
                    // Before the first logger, which is the driver's.
                    System.setProperty(LOG_LEVEL, "DEBUG");
                  }
                  return new RunLast().execute(parsed);
                })
            .setExecutionExceptionHandler(
                (exception, command, parsed) -> {
                  main.complain(exception);
                  return command.getCommandSpec().exitCodeOnExecutionException();
                });
    int exitCode = commandLine.execute(args);
    out.flush();
    err.flush();
    return exitCode;
  }

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "Missing command");
  }

  /** The machine whose functions are bound and whose set-up is looked at. */
  Machine machine() {
    return machine;
  }

  /** Says on stderr what went wrong: in one line, unless asked for more. */
  void complain(Exception exception) {
    PrintWriter err = spec.commandLine().getErr();
    boolean expected =
        exception instanceof VerbsException
            || exception instanceof VfioException
            || exception instanceof CheckFailedException;
    err.println("hghca: " + (expected ? exception.getMessage() : "internal error: " + exception));
    if (debug) {
      exception.printStackTrace(err);
    } else if (!expected) {
      err.println("hghca: --debug shows where");
    }
  }
}
