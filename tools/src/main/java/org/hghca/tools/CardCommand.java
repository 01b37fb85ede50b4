package org.hghca.tools;

import com.fasterxml.jackson.jr.ob.JSON;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.Reader;
import java.io.StringReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.hghca.abi.HardwareProfile;
import org.hghca.tools.bringup.board.BringupOptions;
import org.hghca.tools.card.CardOptions;
import org.hghca.tools.card.CardSession;
import org.hghca.tools.card.Reply;
import org.hghca.tools.raw.CardStoppedException;
import org.hghca.vfio.Locator;
import org.hghca.vfio.VfioException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code hghca card}: a prompt on the registers, the HCR and the contexts of one card. */
@Command(
    name = "card",
    description = {
      "A prompt on one card: HCR commands, registers, configuration space, contexts. It opens the"
          + " PCI function only, so that it works on a card that cannot be brought up; 'help' lists"
          + " its commands.",
      "The card belongs to this command while it runs. At the end, also by Ctrl-C, its bus"
          + " mastering is off, and it is reset if it can be reset. What can stop a card is refused"
          + " without --unsafe behind the command."
    },
    mixinStandardHelpOptions = true,
    versionProvider = Version.class)
final class CardCommand implements Callable<Integer>, OutlivesReader {
  private static final String PROMPT = "card> ";

  @Spec private CommandSpec spec;

  @Mixin private BoardOptions board;

  @Option(
      names = "--script",
      paramLabel = "<file>",
      description =
          "Run the commands of a file, one a line, # begins a comment; the first one that fails"
              + " ends it.")
  private Path script;

  @Option(names = "--keep-going", description = "Go on after a command of the script has failed.")
  private boolean keepGoing;

  @Option(names = "--json", description = "Print one JSON object a line for each command.")
  private boolean json;

  /** A script does its work, whoever reads; a prompt without a reader has ended. */
  @Override
  public boolean outlivesReader() {
    return script != null;
  }

  @Override
  public Integer call() {
    if (keepGoing && script == null) {
      throw new ParameterException(spec.commandLine(), "--keep-going is an option of --script");
    }
    CardOptions options = options();
    Reader in;
    try {
      in = script == null ? new InputStreamReader(System.in, StandardCharsets.UTF_8) : read(script);
    } catch (IOException e) {
      return failed(
          ExitCode.USAGE, "--script: %s cannot be read: %s".formatted(script, FileFailure.why(e)));
    }
    try (Interruption _ =
            new Interruption(Thread.currentThread()::interrupt, ExitCode.INTERRUPTED);
        CommandLines lines = new CommandLines(in);
        CardSession session = CardSession.open(options)) {
      return run(lines, session).code();
    } catch (VfioException e) {
      return failed(ExitCode.NOT_OPENED, e.getMessage());
    } catch (CardStoppedException e) {
      return failed(ExitCode.STOPPED, e.getMessage());
    } catch (UncheckedIOException e) {
      return failed(
          ExitCode.FAILED, "the commands cannot be read: " + FileFailure.why(e.getCause()));
    }
  }

  private static Reader read(Path file) throws IOException {
    return new StringReader(Files.readString(file));
  }

  private CardOptions options() {
    String device = board.locator();
    Locator locator = Locator.parse(device);
    Duration limit = board.limit(device);
    return new CardOptions(
        locator, board.profile().or(() -> named(locator)), limit, BringupOptions.patience(limit));
  }

  /** The profile in the locator. */
  private Optional<HardwareProfile> named(Locator locator) {
    try {
      return locator.parameter("as").map(HardwareProfile::byName);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), "as= of the locator: " + e.getMessage(), e);
    }
  }

  private ExitCode run(CommandLines lines, CardSession session) {
    boolean failed = false;
    boolean stopped = false;
    for (int number = 1; !session.hasEnded(); number++) {
      Optional<String> line = next(lines, session);
      if (line.isEmpty()) {
        break;
      }
      Optional<Reply> reply = session.execute(line.get());
      if (reply.isPresent() && !session.isInterrupted()) {
        print(reply.get(), line.get(), number);
        failed |= !reply.get().isOk();
        stopped |= reply.get().isStopped();
        if (failed && script != null && !keepGoing) {
          break;
        }
      }
    }
    if (session.isInterrupted()) {
      return ExitCode.INTERRUPTED;
    }
    return stopped ? ExitCode.STOPPED : failed ? ExitCode.FAILED : ExitCode.OK;
  }

  private Optional<String> next(CommandLines lines, CardSession session) {
    if (isTerminal()) {
      out().print(PROMPT);
      out().flush();
    }
    try {
      return lines.next();
    } catch (InterruptedException e) {
      session.interrupt();
      return Optional.empty();
    }
  }

  private boolean isTerminal() {
    return script == null && !json && out() instanceof StandardOutput output && output.isTerminal();
  }

  private void print(Reply reply, String line, int number) {
    if (json) {
      out().print(json(reply) + "\n");
    } else {
      if (script != null) {
        out().print(PROMPT + line.strip() + "\n");
      }
      reply.lines().forEach(text -> out().print(text + "\n"));
    }
    out().flush();
    if (!reply.isOk() && !json) {
      String place = script == null ? "" : "%s:%d: ".formatted(script, number);
      spec.commandLine().getErr().println("hghca: " + place + reply.error());
    }
  }

  private static String json(Reply reply) {
    try {
      return JSON.std.asString(reply.json());
    } catch (IOException e) {
      throw new UncheckedIOException(e); // it writes to memory
    }
  }

  private PrintWriter out() {
    return spec.commandLine().getOut();
  }

  private int failed(ExitCode exit, String why) {
    spec.commandLine().getErr().println("hghca: " + why);
    return exit.code();
  }
}
