package org.hghca.tools.card.command;

import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Optional;
import org.hghca.programs.ExitCode;
import org.hghca.programs.Json;
import org.hghca.programs.StandardOutput;
import org.hghca.tools.card.CardSession;
import org.hghca.tools.card.Reply;

/** Gives the lines of a prompt or of a script to a session, and prints its replies. */
public final class CardPrompt {
  private static final String PROMPT = "card> ";

  private final PrintWriter out;
  private final PrintWriter err;
  private final Optional<Path> script;
  private final boolean keepGoing;
  private final boolean json;

  /**
   * For one session.
   *
   * @param script whose lines they are; empty for a prompt
   * @param keepGoing whether lines of a script follow one that has failed
   * @param json whether a reply is one line of JSON
   */
  public CardPrompt(
      PrintWriter out, PrintWriter err, Optional<Path> script, boolean keepGoing, boolean json) {
    this.out = out;
    this.err = err;
    this.script = script;
    this.keepGoing = keepGoing;
    this.json = json;
  }

  /**
   * Runs all lines.
   *
   * @param session is not closed
   * @throws UncheckedIOException when the lines cannot be read
   */
  public ExitCode run(CommandLines lines, CardSession session) {
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
        if (failed && script.isPresent() && !keepGoing) {
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
      out.print(PROMPT);
      out.flush();
    }
    try {
      return lines.next();
    } catch (InterruptedException e) {
      session.interrupt();
      return Optional.empty();
    }
  }

  private boolean isTerminal() {
    return script.isEmpty() && !json && out instanceof StandardOutput output && output.isTerminal();
  }

  private void print(Reply reply, String line, int number) {
    if (json) {
      out.print(Json.record(reply.json()) + "\n");
    } else {
      if (script.isPresent()) {
        out.print(PROMPT + line.strip() + "\n");
      }
      reply.lines().forEach(text -> out.print(text + "\n"));
    }
    out.flush();
    if (!reply.isOk() && !json) {
      String place = script.isEmpty() ? "" : "%s:%d: ".formatted(script.get(), number);
      err.println("hghca: " + place + reply.error());
    }
  }
}
