package org.hghca.conformance.document;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * A message that recommends a setting names the option of the command line first, and then the
 * property of a program: {@code --ids=10ee:9038, in a program -Dhghca.ids=10ee:9038}. An option of
 * the JVM that the command line has no option for is recommended as both take it, by {@code
 * JDK_JAVA_OPTIONS}. A message that refuses the value of such an option begins with the option.
 */
class HintsTest {
  private static final Pattern SOURCE = Pattern.compile("[^/]+/src/main/java/.*\\.java");

  /** A literal with an option of the JVM, neither at its beginning nor behind the variable. */
  private static final Pattern BARE =
      Pattern.compile(
          "\"(?:[^\"\\\\\n"
              + "]|\\\\.)+(?<!JDK_JAVA_OPTIONS=)(?<!in a program )(?<!\\w)-D(?:hghca|%s|\" \\+)");

  private static Stream<Path> sources() throws IOException {
    Path project = Documents.project();
    try (Stream<Path> files = Files.walk(project)) {
      return files
          .filter(file -> SOURCE.matcher(project.relativize(file).toString()).matches())
          .toList()
          .stream();
    }
  }

  private static Stream<String> bare(Path source) {
    return Documents.read(source)
        .lines()
        .filter(line -> !line.strip().startsWith("*") && BARE.matcher(line).find())
        .map(line -> source.getFileName() + ": " + line.strip());
  }

  @Test
  void optionsOfTheJvmAreRecommendedAsTheCommandLineTakesThem() throws IOException {
    List<Path> sources = sources().toList();

    assertThat(sources).hasSizeGreaterThan(500);
    assertThat(sources.stream().flatMap(HintsTest::bare)).isEmpty();
  }

  @Test
  void bareOptionIsFound() {
    assertThat("\"name devices by -Dhghca.devices=<locator>\"").containsPattern(BARE);
    assertThat("\"; -D%s=<id> sets it\"").containsPattern(BARE);
    assertThat("\"name them by -D\" + ADDRESSES").containsPattern(BARE);
    assertThat("\"JDK_JAVA_OPTIONS=-D%s=<id> sets it\"").doesNotContainPattern(BARE);
    assertThat("\"--ids=<id> sets it, in a program -Dhghca.ids=\"").doesNotContainPattern(BARE);
    assertThat("\"-D%s must be a number\"").doesNotContainPattern(BARE);
  }
}
