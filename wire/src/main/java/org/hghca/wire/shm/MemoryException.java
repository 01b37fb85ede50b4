package org.hghca.wire.shm;

import org.hghca.linux.LinuxErrno;

/** The system has no memory or no descriptor for what members share. */
final class MemoryException extends RuntimeException {
  private static final long serialVersionUID = 1;

  MemoryException(long bytes, long answer) {
    super("no memory of %d bytes to share: %s".formatted(bytes, LinuxErrno.describe(answer)));
  }
}
