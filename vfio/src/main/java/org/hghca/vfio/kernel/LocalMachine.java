package org.hghca.vfio.kernel;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** This machine. */
enum LocalMachine implements Machine {
  INSTANCE;

  @Override
  public Path file(String name) {
    return Path.of(name);
  }

  @Override
  public String user() {
    return System.getProperty("user.name");
  }

  @Override
  public boolean canOpen(Path node) {
    return Files.isReadable(node) && Files.isWritable(node);
  }

  @Override
  public void write(Path file, String text) throws IOException {
    Files.writeString(file, text, StandardOpenOption.WRITE);
  }
}
