package org.hghca.tools.monitor;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/** A runtime directory for the counters of a test, until it is closed. */
final class OwnRuntimeDirectory implements AutoCloseable {
  private static final String PROPERTY = "hghca.runtime.dir";

  private final String before = System.getProperty(PROPERTY);

  private OwnRuntimeDirectory() {}

  static OwnRuntimeDirectory in(Path folder) throws IOException {
    OwnRuntimeDirectory directory = new OwnRuntimeDirectory();
    Path own =
        Files.createDirectory(
            folder.resolve("run"),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    System.setProperty(PROPERTY, own.toString());
    return directory;
  }

  @Override
  public void close() {
    if (before == null) {
      System.clearProperty(PROPERTY);
    } else {
      System.setProperty(PROPERTY, before);
    }
  }
}
