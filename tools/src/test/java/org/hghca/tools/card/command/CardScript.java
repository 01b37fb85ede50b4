package org.hghca.tools.card.command;

import com.fasterxml.jackson.jr.ob.JSON;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.hghca.tools.CommandLineRun;

/** {@code hghca card} with the lines of a script. */
final class CardScript {
  /** The name of its file. */
  static final String FILE = "lines";

  private CardScript() {}

  /** Runs lines, which are written into a folder. */
  static CommandLineRun run(Path folder, List<String> options, String device, String... lines) {
    try {
      Path script = Files.writeString(folder.resolve(FILE), String.join("\n", lines));
      List<String> words = new ArrayList<>(List.of("card", "-d", device, "--limit", "PT1S"));
      words.addAll(List.of("--script", script.toString()));
      words.addAll(options);
      return CommandLineRun.of(words.toArray(String[]::new));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The objects of all lines, also of those that fail. */
  static List<Map<String, Object>> json(Path folder, String device, String... lines) {
    CommandLineRun run = run(folder, List.of("--json", "--keep-going"), device, lines);
    if (!run.err().isEmpty()) {
      throw new AssertionError(run.err());
    }
    return run.out().lines().map(CardScript::object).toList();
  }

  private static Map<String, Object> object(String line) {
    try {
      return JSON.std.mapFrom(line);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
