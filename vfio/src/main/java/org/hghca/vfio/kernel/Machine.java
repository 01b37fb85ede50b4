package org.hghca.vfio.kernel;

import java.io.IOException;
import java.nio.file.Path;

/**
 * The machine as its kernel shows it in files, and who asks. Files are named as on the machine
 * itself, such as {@code /sys/bus/pci/devices}. Thread-safe.
 */
public interface Machine {

  /** The machine that this process runs on. */
  static Machine local() {
    return LocalMachine.INSTANCE;
  }

  /** Where a file is. */
  Path file(String name);

  /** The login name of the user who runs this process. */
  String user();

  /** Whether that user is root. */
  default boolean isRoot() {
    return Credentials.of(this).isRoot();
  }

  /** Whether this process may open a node for reading and writing. */
  boolean canOpen(Path node);

  /**
   * Writes to a file of the kernel that exists, in one call, as the kernel takes it.
   *
   * @throws IOException as the kernel refuses it
   */
  void write(Path file, String text) throws IOException;
}
