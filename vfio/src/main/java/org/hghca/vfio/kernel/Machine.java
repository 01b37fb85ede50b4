package org.hghca.vfio.kernel;

import java.io.IOException;
import java.nio.file.Path;

/**
 * The machine as shown in its kernel's files, and the user of this process. Files are named as on
 * the machine itself, such as {@code /sys/bus/pci/devices}. Thread-safe.
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
   * Writes to an existing file of the kernel, in one call.
   *
   * @throws IOException if the kernel refuses it
   */
  void write(Path file, String text) throws IOException;
}
