package org.hghca.conformance.document;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Links between the pages have valid targets. */
class LinksTest {
  private static final Pattern LINK =
      Pattern.compile("\\]\\((?!https?:)([^)#\\s]*)(?:#([^)\\s]+))?\\)");

  static Stream<Path> pages() {
    return Documents.pages().stream();
  }

  @ParameterizedTest
  @MethodSource("pages")
  void linksLeadToPagesAndHeadings(Path page) {
    List<String> broken =
        LINK.matcher(Documents.read(page))
            .results()
            .filter(link -> !leadsSomewhere(page, link.group(1), link.group(2)))
            .map(link -> link.group())
            .toList();

    assertThat(broken).as(page.toString()).isEmpty();
  }

  private static boolean leadsSomewhere(Path page, String path, String anchor) {
    Path target = path.isEmpty() ? page : page.resolveSibling(path).normalize();
    return Files.exists(target)
        && (anchor == null || Outline.of(Documents.read(target)).anchors().contains(anchor));
  }

  @Test
  void entryPageNamesAllOthers() {
    Path docs = Documents.project().resolve("docs");
    String leading = Documents.read(docs.resolve("README.md"));

    assertThat(pages().filter(page -> page.getParent().equals(docs)))
        .map(page -> page.getFileName().toString())
        .filteredOn(name -> !name.equals("README.md"))
        .allSatisfy(name -> assertThat(leading).contains("](" + name + ")"));
  }
}
