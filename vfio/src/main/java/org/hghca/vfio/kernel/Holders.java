package org.hghca.vfio.kernel;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Which processes have nodes open. The kernel reports it for the caller's own processes; for root,
 * for all.
 */
final class Holders {

  private Holders() {}

  /** The processes that have one of some nodes open, such as {@code process 4711 (java)}. */
  static List<String> of(Machine machine, List<Path> nodes) {
    Set<String> names = nodes.stream().map(Path::toString).collect(Collectors.toSet());
    List<String> holders = new ArrayList<>();
    for (String process : KernelFiles.names(machine.file("/proc"))) {
      if (process.chars().allMatch(Character::isDigit) && hasOpen(machine, process, names)) {
        holders.add(
            "process %s (%s)"
                .formatted(
                    process,
                    KernelFiles.text(machine.file("/proc/" + process + "/comm")).orElse("?")));
      }
    }
    return holders;
  }

  private static boolean hasOpen(Machine machine, String process, Set<String> names) {
    Path descriptors = machine.file("/proc/" + process + "/fd");
    return KernelFiles.names(descriptors).stream()
        .flatMap(descriptor -> KernelFiles.link(descriptors.resolve(descriptor)).stream())
        .anyMatch(target -> names.contains(target.toString()));
  }
}
