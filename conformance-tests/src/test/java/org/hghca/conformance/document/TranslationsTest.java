package org.hghca.conformance.document;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertAll;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Chinese pages correspond to their English originals, as far as a program can check. */
class TranslationsTest {
  private static final String CHINESE = ".zh.md";
  private static final Pattern CODE = Pattern.compile("`([^`]+)`");

  static Stream<Path> translations() {
    return Documents.pages().stream().filter(page -> page.toString().endsWith(CHINESE));
  }

  private static Path twin(Path translation) {
    return translation.resolveSibling(translation.getFileName().toString().replace(CHINESE, ".md"));
  }

  private static List<String> code(String text) {
    return CODE.matcher(text).results().map(MatchResult::group).sorted().toList();
  }

  @Test
  void pagesForOwnersOfACardAreTranslated() {
    assertThat(translations().map(page -> page.getFileName().toString()))
        .contains("README.zh.md", "hardware.zh.md", "troubleshooting.zh.md");
  }

  @ParameterizedTest
  @MethodSource("translations")
  void translationsLinkToEachOther(Path translation) {
    Path english = twin(translation);

    assertThat(Documents.read(english)).contains("[中文](" + translation.getFileName() + ")");
    assertThat(Documents.read(translation)).contains("[English](" + english.getFileName() + ")");
  }

  @ParameterizedTest
  @MethodSource("translations")
  void translationsHaveTheSameHeadingsTablesAndCommands(Path translation) {
    Outline chinese = Outline.of(Documents.read(translation));
    Outline english = Outline.of(Documents.read(twin(translation)));

    assertAll(
        () -> assertThat(chinese.levels()).as("headings").isEqualTo(english.levels()),
        () -> assertThat(chinese.shapes()).as("cells of rows").isEqualTo(english.shapes()),
        () -> assertThat(chinese.blocks()).as("blocks").isEqualTo(english.blocks()));
  }

  /** Commands, messages, options and names in a row are not translated. */
  @ParameterizedTest
  @MethodSource("translations")
  void rowsQuoteTheSameCode(Path translation) {
    List<String> chinese = rows(translation);
    List<String> english = rows(twin(translation));
    List<String> different = new ArrayList<>();
    for (int i = 0; i < Math.min(chinese.size(), english.size()); i++) {
      if (!code(chinese.get(i)).equals(code(english.get(i)))) {
        different.add(english.get(i) + "\n  " + chinese.get(i));
      }
    }

    assertThat(different).isEmpty();
  }

  private static List<String> rows(Path page) {
    return Outline.of(Documents.read(page)).tables().stream().flatMap(List::stream).toList();
  }
}
