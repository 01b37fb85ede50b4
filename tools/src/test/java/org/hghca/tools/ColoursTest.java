package org.hghca.tools;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Colours are for terminals, here those of {@code script(1)}, and for who has not refused them. */
@Timeout(120)
class ColoursTest {
  private static final String ESCAPE = "\u001b[";
  private static final List<String> COMMAND = OwnProgram.command("list", "--help-all");

  private static String printed(List<String> command, Map<String, String> environment)
      throws Exception {
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().remove("NO_COLOR");
    builder.environment().put("TERM", "xterm");
    builder.environment().putAll(environment);
    builder.redirectInput(Path.of("/dev/null").toFile());
    Process process = builder.start();
    String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(text).isZero();
    return text.replace("\r", "");
  }

  private static String onATerminal(Map<String, String> environment) throws Exception {
    assumeThat(Path.of("/usr/bin/script")).exists();
    String line = COMMAND.stream().map(word -> "'" + word + "'").collect(Collectors.joining(" "));
    // a class path can be longer than what a terminal's line may be
    Path file = Files.createTempFile("hghca-terminal", ".sh");
    try {
      Files.writeString(file, "exec " + line + "\n");
      return printed(List.of("/usr/bin/script", "-qec", "sh " + file, "/dev/null"), environment);
    } finally {
      Files.delete(file);
    }
  }

  @Test
  void terminalHasColoursUnlessTheyAreRefused() throws Exception {
    String plain = printed(COMMAND, Map.of());
    assertThat(plain).contains("Usage: hghca list").doesNotContain(ESCAPE);
    String coloured = onATerminal(Map.of());
    assertThat(coloured).contains(ESCAPE);
    String refused = onATerminal(Map.of("NO_COLOR", "1"));
    assertThat(refused).doesNotContain(ESCAPE);
    assertThat(words(refused)).isEqualTo(words(plain));
    assertThat(words(coloured)).isEqualTo(words(plain));
  }

  /** What is printed, as lines of any width. */
  private static String words(String text) {
    return text.replaceAll("\u001b\\[[0-9;]*m", "").replaceAll("\\s+", " ").strip();
  }
}
