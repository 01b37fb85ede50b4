package org.hghca.tools.structure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How a card that follows the document is driven is read without the makers' RTL. */
class ReadingTest {
  private static final Path DRIVER =
      Path.of("..", "hghca-driver", "src", "main", "java", "org", "hghca", "driver");

  private static final Path PACKAGES =
      Path.of("..", "docs", "adr", "0041-packages-of-the-driver.md");

  /** Names of the RTL: in words, and in the names of classes. */
  private static final Pattern RTL = Pattern.compile("\\b(RTL|R1|R2|Rtl\\w*)\\b");

  /** A file of the path and its lines, in a table. */
  private static final Pattern ROW = Pattern.compile("`(\\w+)\\.([\\w.]+)` \\| (\\d+) \\|");

  @ParameterizedTest
  @ValueSource(
      strings = {
        "object",
        "transition",
        "state",
        "completion",
        "event",
        "ring",
        "memory",
        "card",
        "trace",
        "provider"
      })
  void packageDoesNotSpeakOfTheRtl(String name) throws IOException {
    assertDoNotSpeakOfTheRtl(sources(DRIVER.resolve(name)));
  }

  @ParameterizedTest
  @ValueSource(strings = {"uar", "mailbox", "icm-manager"})
  void moduleBelowDoesNotSpeakOfTheRtl(String name) throws IOException {
    assertDoNotSpeakOfTheRtl(sources(Path.of("..", name, "src", "main")));
  }

  /** One paragraph of the class has all that the RTL does differently. */
  @ParameterizedTest
  @ValueSource(strings = {"NextUnit", "Doorbell"})
  void fieldsOfAnElementAndADoorbellDoNotSpeakOfTheRtl(String name) throws IOException {
    String source = Files.readString(file("abi", name));
    String members = source.substring(source.indexOf("public final class"));
    assertThat(RTL.matcher(members).results()).isEmpty();
  }

  /** What is only for cards by the document need not ask which card it is. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "object.DocumentFamily",
        "completion.DocumentParser",
        "transition.StateFlowByCard"
      })
  void classForTheDocumentAsksNoProfile(String name) throws IOException {
    Path source = DRIVER.resolve(name.replace('.', '/') + ".java");
    assertThat(Files.readString(source)).doesNotContainIgnoringCase("profile");
  }

  @Test
  void filesOfThePathAreListedWithTheirLength() throws IOException {
    List<MatchResult> rows = ROW.matcher(Files.readString(PACKAGES)).results().toList();
    assertThat(rows).hasSizeGreaterThan(20);
    for (MatchResult row : rows) {
      int lines = Files.readAllLines(file(row.group(1), row.group(2))).size();
      assertThat(Integer.parseInt(row.group(3)))
          .as(row.group())
          .isCloseTo(lines, within(10 + lines / 10));
    }
  }

  /** A class by its package, of the driver or of the module of that name. */
  private static Path file(String first, String rest) {
    String path = first + "/" + rest.replace('.', '/') + ".java";
    Path own = DRIVER.resolve(path);
    return Files.exists(own) ? own : Path.of("..", first, "src/main/java/org/hghca", path);
  }

  private static List<Path> sources(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      return files.filter(file -> file.toString().endsWith(".java")).toList();
    }
  }

  private static void assertDoNotSpeakOfTheRtl(List<Path> sources) {
    assertThat(sources)
        .hasSizeGreaterThan(2)
        .allSatisfy(
            source -> assertThat(RTL.matcher(Files.readString(source)).results()).isEmpty());
  }
}
