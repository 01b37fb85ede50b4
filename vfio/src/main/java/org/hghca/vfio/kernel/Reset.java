package org.hghca.vfio.kernel;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.hghca.linux.LinuxErrno;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;

/**
 * Resets a function: alone if the kernel can, else with its slot or bus (hot reset), if no other
 * owner has a function on it.
 */
final class Reset {
  private final KernelSystem system;
  private final VfioEntry entry;
  private final String address;
  private final boolean itself;
  private final List<String> together;

  private Reset(
      KernelSystem system, VfioEntry entry, String address, boolean itself, List<String> together) {
    this.system = system;
    this.entry = entry;
    this.address = address;
    this.itself = itself;
    this.together = together;
  }

  /**
   * Determines how to reset a function.
   *
   * @param flags of its {@code struct vfio_device_info}
   */
  static Reset of(KernelSystem system, VfioEntry entry, String address, int flags) {
    boolean itself = (flags & VfioAbi.DeviceInfo.RESET) != 0;
    return new Reset(system, entry, address, itself, itself ? List.of() : together(entry));
  }

  boolean exists() {
    return itself || !together.isEmpty();
  }

  /**
   * Resets it.
   *
   * @throws VfioException {@code BUSY} when another function of this process would be reset, too
   */
  void run() {
    if (itself) {
      KernelErrors.checked(
          entry.device().ioctl(VfioAbi.DEVICE_RESET), "%s was not reset".formatted(address));
      return;
    }
    for (String other : together) {
      if (!other.equals(address) && system.isOpen(other)) {
        throw new VfioException(
            Reason.BUSY,
            "%s can only be reset together with %s, which is open: close that first"
                .formatted(address, other));
      }
    }
    try (Arena arena = Arena.ofConfined()) {
      List<Integer> proofs =
          entry.group().map(group -> List.of(group.descriptor())).orElse(List.of());
      int size = VfioAbi.HotReset.ENTRIES + Integer.BYTES * proofs.size();
      MemorySegment request = arena.allocate(size, Integer.BYTES);
      request.set(JAVA_INT, VfioAbi.ARGSZ, size);
      request.set(JAVA_INT, VfioAbi.HotReset.COUNT, proofs.size());
      for (int i = 0; i < proofs.size(); i++) {
        request.set(JAVA_INT, VfioAbi.HotReset.ENTRIES + (long) Integer.BYTES * i, proofs.get(i));
      }
      KernelErrors.checked(
          entry.device().ioctl(VfioAbi.DEVICE_PCI_HOT_RESET, request),
          "%s was not reset with its bus".formatted(address));
    }
  }

  /**
   * The functions that a hot reset also resets; empty if there is no hot reset, or it is not
   * allowed.
   */
  private static List<String> together(VfioEntry entry) {
    try (Arena arena = Arena.ofConfined()) {
      int count = 1;
      while (true) {
        int size = VfioAbi.HotReset.ENTRIES + VfioAbi.HotReset.DEVICE_SIZE * count;
        MemorySegment info = arena.allocate(size, Integer.BYTES);
        info.set(JAVA_INT, VfioAbi.ARGSZ, size);
        int answer = entry.device().ioctl(VfioAbi.DEVICE_GET_PCI_HOT_RESET_INFO, info);
        int needed = info.get(JAVA_INT, VfioAbi.HotReset.COUNT);
        if (LinuxErrno.ENOSPC.is(answer) && needed > count && needed <= 1 << 16) {
          count = needed;
          continue;
        }
        return answer < 0 || needed < 0 || needed > count || !isOurs(entry, info, needed)
            ? List.of()
            : addresses(info, needed);
      }
    }
  }

  /**
   * Whether the kernel prevents other processes from opening an affected function while we have
   * ours open.
   */
  private static boolean isOurs(VfioEntry entry, MemorySegment info, int count) {
    int flags = info.get(JAVA_INT, VfioAbi.FLAGS);
    if ((flags & VfioAbi.HotReset.DEV_ID) != 0) {
      return (flags & VfioAbi.HotReset.DEV_ID_OWNED) != 0;
    }
    for (int i = 0; i < count; i++) {
      int group = info.get(JAVA_INT_UNALIGNED, at(i) + VfioAbi.HotReset.DEVICE_GROUP);
      if (entry.group().isEmpty() || entry.group().get().number() != group) {
        return false;
      }
    }
    return true;
  }

  private static List<String> addresses(MemorySegment info, int count) {
    List<String> addresses = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      int segment =
          Short.toUnsignedInt(
              info.get(JAVA_SHORT_UNALIGNED, at(i) + VfioAbi.HotReset.DEVICE_SEGMENT));
      int bus = Byte.toUnsignedInt(info.get(JAVA_BYTE, at(i) + VfioAbi.HotReset.DEVICE_BUS));
      int devfn = Byte.toUnsignedInt(info.get(JAVA_BYTE, at(i) + VfioAbi.HotReset.DEVICE_DEVFN));
      addresses.add("%04x:%02x:%02x.%d".formatted(segment, bus, devfn >> 3, devfn & 7));
    }
    return List.copyOf(addresses);
  }

  private static long at(int index) {
    return VfioAbi.HotReset.ENTRIES + (long) VfioAbi.HotReset.DEVICE_SIZE * index;
  }
}
