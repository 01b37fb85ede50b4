package org.hghca.conformance.document;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** The pages of the project. */
final class Documents {
  /** Folders with pages, seen from the project's. */
  private static final List<String> FOLDERS =
      List.of(".", "docs", "docs/adr", "conformance-tests", "conformance-tests/lab");

  private Documents() {}

  /** The project's folder; tests run in it or in a module's. */
  static Path project() {
    Path at = Path.of("").toAbsolutePath();
    while (!Files.isDirectory(at.resolve("conformance-tests"))) {
      at = at.getParent();
    }
    return at;
  }

  /** All pages, in Markdown. */
  static List<Path> pages() {
    return FOLDERS.stream().flatMap(Documents::pagesOf).toList();
  }

  private static Stream<Path> pagesOf(String folder) {
    try (Stream<Path> files = Files.list(project().resolve(folder))) {
      return files.filter(file -> file.toString().endsWith(".md")).sorted().toList().stream();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static String read(Path page) {
    try {
      return Files.readString(page);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
