package org.hghca.vfio.kernel;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.hghca.linux.SystemCalls;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;
import org.hghca.vfio.linux.HostCalls;

/**
 * The open objects of the kernel's VFIO in this process: functions, and objects that several
 * functions share. Thread-safe.
 */
final class KernelSystem {
  // asm-generic/fcntl.h, linux/fcntl.h
  private static final int O_RDWR = 2;
  private static final int O_CLOEXEC = 0x8_0000;
  private static final int F_DUPFD_CLOEXEC = 1030;

  private static KernelSystem local;

  private final SystemCalls calls;
  private final Machine machine;
  private final Set<String> open = new HashSet<>();
  private final Map<Path, GroupFile> groups = new HashMap<>();
  private final Map<String, SharedSpace> spaces = new HashMap<>();

  KernelSystem(SystemCalls calls, Machine machine) {
    this.calls = calls;
    this.machine = machine;
  }

  /** The system of the machine on which this process runs. */
  static synchronized KernelSystem local() {
    if (local == null) {
      local = new KernelSystem(HostCalls.system(), Machine.local());
    }
    return local;
  }

  SystemCalls calls() {
    return calls;
  }

  Machine machine() {
    return machine;
  }

  /**
   * Opens a function for this process.
   *
   * @throws VfioException {@code BUSY} when it is taken
   */
  synchronized void take(String address) {
    if (!open.add(address)) {
      throw new VfioException(
          Reason.BUSY, "%s is open in this process already: close it first".formatted(address));
    }
  }

  synchronized void giveBack(String address) {
    open.remove(address);
  }

  synchronized boolean isOpen(String address) {
    return open.contains(address);
  }

  /** The groups that are open, by their nodes; guarded by this object. */
  Map<Path, GroupFile> groups() {
    return groups;
  }

  /** The named address spaces, by name; guarded by this object. */
  Map<String, SharedSpace> spaces() {
    return spaces;
  }

  /**
   * Opens a node for reading and writing.
   *
   * @return its descriptor
   */
  int open(Path node) {
    return KernelErrors.checked(
        calls.open(node.toString(), O_RDWR | O_CLOEXEC), "cannot open " + node);
  }

  /**
   * A duplicate of a descriptor that another process has opened.
   *
   * @param whose its expected kind, for the message
   */
  int duplicate(int descriptor, String whose) {
    return KernelErrors.checked(
        calls.fcntl(descriptor, F_DUPFD_CLOEXEC, 0),
        "descriptor %d, which should be that of %s, cannot be used".formatted(descriptor, whose));
  }

  void close(int descriptor) {
    int _ = calls.close(descriptor);
  }
}
