package org.hghca.conformance.document;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.hghca.conformance.process.OtherJvm;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The code in {@code docs/library.md} is that of the consumers, and their programs work. {@code
 * consumers/run} runs their builds.
 */
@Tag("long")
class LibraryPageTest {
  private static final Pattern BLOCK =
      Pattern.compile("^```(?:xml|java)\\n(.*?)^```$", Pattern.MULTILINE | Pattern.DOTALL);

  private static final Path CONSUMERS = Documents.project().resolve("consumers");

  static Stream<String> blocks() {
    String page = Documents.read(Documents.project().resolve("docs/library.md"));
    return BLOCK.matcher(page).results().map(MatchResult::group);
  }

  private static String withoutIndentation(String text) {
    return text.lines().map(String::strip).collect(Collectors.joining("\n", "\n", "\n"));
  }

  private static List<String> written() {
    try (Stream<Path> files = Files.walk(CONSUMERS, 6)) {
      return files
          .filter(file -> file.endsWith("pom.xml") || file.endsWith("module-info.java"))
          .map(file -> withoutIndentation(Documents.read(file)))
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @ParameterizedTest
  @MethodSource("blocks")
  void codeOfThePageIsInAConsumer(String block) {
    String lines = block.substring(block.indexOf('\n') + 1, block.lastIndexOf("```"));

    assertThat(written()).anySatisfy(file -> assertThat(file).contains(withoutIndentation(lines)));
  }

  @Test
  void pageHasCode() {
    assertThat(blocks()).hasSizeGreaterThan(3);
  }

  @ParameterizedTest
  @CsvSource({"classpath, arrived: A message over the class path", "modulepath, written: 1048576"})
  void programsMoveData(String consumer, String says, @TempDir Path folder) throws IOException {
    Path program = Path.of("com/example", consumer, "Main.java");
    Path source = folder.resolve(program);
    Files.createDirectories(source.getParent());
    Files.copy(CONSUMERS.resolve(consumer).resolve("src/main/java").resolve(program), source);

    assertThat(OtherJvm.runSource(source).assertSuccess().said()).contains(says);
  }
}
