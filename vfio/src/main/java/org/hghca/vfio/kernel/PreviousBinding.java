package org.hghca.vfio.kernel;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Optional;

/**
 * The binding of a function before it was bound to vfio-pci.
 *
 * @param driver empty when it had none
 * @param override the only driver that it allowed; empty when it allowed any
 */
record PreviousBinding(Optional<String> driver, Optional<String> override) {

  /** Whoever could write a record would choose the driver that the superuser binds later. */
  private static final FileAttribute<?> FOLDER = mode("rwxr-xr-x");

  private static final FileAttribute<?> RECORD = mode("rw-r--r--");

  private static FileAttribute<?> mode(String mode) {
    return PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(mode));
  }

  private static Path file(Machine machine, String address) {
    return machine.file("/run/hghca/" + address);
  }

  /** The record: two lines, driver and override, empty if there is none. */
  void keep(Machine machine, String address) throws IOException {
    Path file = file(machine, address);
    Files.createDirectories(file.getParent(), FOLDER);
    Files.deleteIfExists(file);
    Files.createFile(file, RECORD);
    Files.write(file, List.of(driver.orElse(""), override.orElse("")));
  }

  /** The record of a function, if one was written since the machine was started. */
  static Optional<PreviousBinding> of(Machine machine, String address) {
    try {
      Path file = file(machine, address);
      if (!Files.isReadable(file)) {
        return Optional.empty();
      }
      List<String> lines = Files.readAllLines(file);
      return lines.size() == 2
          ? Optional.of(new PreviousBinding(word(lines.getFirst()), word(lines.getLast())))
          : Optional.empty();
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  private static Optional<String> word(String line) {
    return line.isEmpty() ? Optional.empty() : Optional.of(line);
  }

  static void forget(Machine machine, String address) throws IOException {
    Files.deleteIfExists(file(machine, address));
  }
}
