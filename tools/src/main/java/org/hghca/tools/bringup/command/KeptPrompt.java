package org.hghca.tools.bringup.command;

import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.hghca.programs.FileFailure;
import org.hghca.tools.bringup.Bringup;
import org.hghca.tools.card.CardSession;
import org.hghca.tools.card.KeptCard;
import org.hghca.tools.card.command.CardPrompt;
import org.hghca.tools.card.command.CommandLines;

/** The prompt of {@code hghca card} on a card that a bring-up has kept, from standard input. */
final class KeptPrompt {
  private final PrintWriter out;
  private final PrintWriter err;

  KeptPrompt(PrintWriter out, PrintWriter err) {
    this.out = out;
    this.err = err;
  }

  /** Reads and runs the lines, or says that there is no card. */
  void open(Bringup session) {
    Optional<KeptCard> kept = session.kept();
    if (kept.isEmpty()) {
      out.print("\n%s has left no open card to keep\n".formatted(session.keptAt()));
      return;
    }
    out.print(
        "\nthe card is kept as %s has left it: help lists the commands, quit gives it back\n"
            .formatted(session.keptAt()));
    Reader in = new InputStreamReader(System.in, StandardCharsets.UTF_8);
    try (CommandLines lines = new CommandLines(in);
        CardSession card = CardSession.of(kept.get())) {
      new CardPrompt(out, err, Optional.empty(), false, false).run(lines, card);
    } catch (UncheckedIOException e) {
      err.println("hghca: the commands cannot be read: " + FileFailure.why(e.getCause()));
    }
  }
}
