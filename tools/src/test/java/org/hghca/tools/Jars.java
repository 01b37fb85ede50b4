package org.hghca.tools;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;

/** Makes jars of folders. */
final class Jars {

  private Jars() {}

  /** A jar with all files of a folder. */
  static void of(Path folder, Path jar) throws IOException {
    try (OutputStream out = Files.newOutputStream(jar);
        JarOutputStream entries = new JarOutputStream(out);
        Stream<Path> walk = Files.walk(folder)) {
      List<Path> files = walk.filter(Files::isRegularFile).toList();
      for (Path file : files) {
        entries.putNextEntry(new JarEntry(folder.relativize(file).toString()));
        Files.copy(file, entries);
      }
    }
  }
}
