package org.hghca.tools.structure;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How a card that follows the document is driven is read without the makers' RTL. */
class ReadingTest {
  private static final Path DRIVER =
      Path.of("..", "hghca-driver", "src", "main", "java", "org", "hghca", "driver");

  /** Names of the RTL: in words, and in the names of classes. */
  private static final Pattern RTL = Pattern.compile("\\b(RTL|R1|R2|Rtl\\w*)\\b");

  @ParameterizedTest
  @ValueSource(strings = {"object", "transition", "state", "completion", "event", "ring", "memory"})
  void packageDoesNotSpeakOfTheRtl(String name) throws IOException {
    List<Path> sources;
    try (Stream<Path> files = Files.walk(DRIVER.resolve(name))) {
      sources = files.filter(file -> file.toString().endsWith(".java")).toList();
    }
    assertThat(sources)
        .hasSizeGreaterThan(2)
        .allSatisfy(
            source -> assertThat(RTL.matcher(Files.readString(source)).results()).isEmpty());
  }
}
