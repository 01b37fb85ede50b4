package org.hghca.vfio.kernel;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Reads files of the kernel. Any file may be missing, forbidden, or removed with its device at any
 * moment; callers see all of these as an empty result.
 */
final class KernelFiles {

  private KernelFiles() {}

  /** The text of a file without the white space around it. */
  static Optional<String> text(Path file) {
    try {
      return Files.isReadable(file)
          ? Optional.of(Files.readString(file).strip())
          : Optional.empty();
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  /** The lines of a file; empty if it cannot be read. */
  static List<String> lines(Path file) {
    return text(file).map(text -> text.lines().toList()).orElse(List.of());
  }

  /** The number in a file, decimal, or hexadecimal after 0x. */
  static Optional<Long> number(Path file) {
    try {
      return text(file).map(Long::decode);
    } catch (NumberFormatException e) {
      return Optional.empty();
    }
  }

  /** The target of a symbolic link. */
  static Optional<Path> link(Path link) {
    try {
      return Files.isSymbolicLink(link)
          ? Optional.of(Files.readSymbolicLink(link))
          : Optional.empty();
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  /** The last part of the target of a symbolic link. */
  static Optional<String> linkName(Path link) {
    return link(link).map(Path::getFileName).map(Path::toString);
  }

  /** The names in a directory, sorted. */
  static List<String> names(Path directory) {
    if (!Files.isDirectory(directory)) {
      return List.of();
    }
    try (Stream<Path> entries = Files.list(directory)) {
      return entries.map(entry -> entry.getFileName().toString()).sorted().toList();
    } catch (IOException e) {
      return List.of();
    }
  }
}
