package org.hghca.vfio.kernel;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Uses of a function by the machine itself: an interface that is up, a mounted disk. */
final class InUseCheck {
  /** Of linux/if.h. */
  private static final int IFF_UP = 1;

  private InUseCheck() {}

  /** Each use with its fix; empty if there is none. */
  static List<String> of(Machine machine, String address) {
    List<String> uses = new ArrayList<>();
    for (String name : owned(machine, "/sys/class/net", address)) {
      long flags = KernelFiles.number(machine.file("/sys/class/net/" + name + "/flags")).orElse(0L);
      if ((flags & IFF_UP) != 0) {
        uses.add(
            "its network interface %s is up; fix: sudo ip link set %s down".formatted(name, name));
      }
    }
    for (String name : owned(machine, "/sys/class/block", address)) {
      if (isMounted(machine, name)) {
        uses.add(
            "its disk %s is mounted or swapped to; fix: sudo umount /dev/%s".formatted(name, name));
      } else if (!KernelFiles.names(machine.file("/sys/class/block/" + name + "/holders"))
          .isEmpty()) {
        uses.add(
            "its disk %s is part of another (RAID, LVM, encryption); fix: lsblk /dev/%s shows of"
                    .formatted(name, name)
                + " which");
      }
    }
    return uses;
  }

  /** The entries of a class that belong to a function: their real paths go through it. */
  private static List<String> owned(Machine machine, String directory, String address) {
    return KernelFiles.names(machine.file(directory)).stream()
        .filter(name -> passes(machine.file(directory).resolve(name), address))
        .toList();
  }

  private static boolean passes(Path entry, String address) {
    try {
      for (Path part : entry.toRealPath()) {
        if (part.toString().equals(address)) {
          return true;
        }
      }
      return false;
    } catch (IOException e) {
      return false;
    }
  }

  private static boolean isMounted(Machine machine, String disk) {
    String node = "/dev/" + disk;
    String numbers =
        KernelFiles.text(machine.file("/sys/class/block/" + disk + "/dev")).orElse("none");
    for (String line : KernelFiles.lines(machine.file("/proc/self/mountinfo"))) {
      // The third field are the numbers of the device; some file systems have their own there, and
      // name the node behind a dash and their kind.
      List<String> fields = List.of(line.split(" "));
      int dash = fields.indexOf("-");
      if (fields.size() > 2 && fields.get(2).equals(numbers)
          || dash > 0 && fields.size() > dash + 2 && fields.get(dash + 2).equals(node)) {
        return true;
      }
    }
    return KernelFiles.lines(machine.file("/proc/swaps")).stream()
        .anyMatch(line -> line.startsWith(node + " "));
  }
}
