package org.hghca.tools.card.command;

import java.io.IOException;
import java.io.InputStreamReader;
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
import org.hghca.programs.ExitCode;
import org.hghca.programs.FileFailure;
import org.hghca.programs.Interruption;
import org.hghca.programs.OutlivesReader;
import org.hghca.tools.bringup.board.BoardOptions;
import org.hghca.tools.bringup.board.BringupOptions;
import org.hghca.tools.card.CardOptions;
import org.hghca.tools.card.CardSession;
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
    })
public final class CardCommand implements Callable<Integer>, OutlivesReader {
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
      in =
          script == null
              ? new InputStreamReader(System.in, StandardCharsets.UTF_8)
              : new StringReader(Files.readString(script));
    } catch (IOException e) {
      return failed(
          ExitCode.USAGE, "--script: %s cannot be read: %s".formatted(script, FileFailure.why(e)));
    }
    try (Interruption _ =
            new Interruption(Thread.currentThread()::interrupt, ExitCode.INTERRUPTED);
        CommandLines lines = new CommandLines(in);
        CardSession session = CardSession.open(options)) {
      return prompt().run(lines, session).code();
    } catch (VfioException e) {
      return failed(ExitCode.NOT_OPENED, e.getMessage());
    } catch (CardStoppedException e) {
      return failed(ExitCode.STOPPED, e.getMessage());
    } catch (UncheckedIOException e) {
      return failed(
          ExitCode.FAILED, "the commands cannot be read: " + FileFailure.why(e.getCause()));
    }
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

  private CardPrompt prompt() {
    return new CardPrompt(
        spec.commandLine().getOut(),
        spec.commandLine().getErr(),
        Optional.ofNullable(script),
        keepGoing,
        json);
  }

  private int failed(ExitCode exit, String why) {
    spec.commandLine().getErr().println("hghca: " + why);
    return exit.code();
  }
}
