package org.hghca.vfio.kernel;

import java.util.ArrayList;
import java.util.List;

/** The findings about the limits of memory for cards. */
final class MemoryFindings {
  /** The default of type1: U16_MAX in vfio_iommu_type1.c. */
  private static final long USUAL_ENTRIES = 65535;

  private static final String HUGE_PAGES = "/sys/kernel/mm/hugepages/hugepages-2048kB/";

  private final Machine machine;
  private final MemoryLimits limits;
  private final List<Finding> findings = new ArrayList<>();

  /**
   * Checks the limits.
   *
   * @param need bytes that the driver of a card keeps mapped for itself
   */
  MemoryFindings(Machine machine, long need) {
    this.machine = machine;
    this.limits = MemoryLimits.of(machine);
    locked(need);
    entries();
    hugePages();
  }

  List<Finding> findings() {
    return List.copyOf(findings);
  }

  private void locked(long need) {
    String found = limits.describeLocked();
    String needs =
        "the driver itself pins up to %s for a card, and all memory that an application"
                .formatted(MemoryLimits.size(need))
            + " registers comes on top";
    if (limits.exempt() || limits.lockedBytes().isEmpty()) {
      findings.add(Finding.ok("memlock", found));
    } else if (limits.lockedBytes().getAsLong() < need) {
      findings.add(Finding.problem("memlock", found, needs, MemoryLimits.RAISE));
    } else {
      findings.add(
          Finding.note(
              "memlock",
              found,
              needs
                  + ": %s are left for it"
                      .formatted(MemoryLimits.size(limits.lockedBytes().getAsLong() - need)),
              MemoryLimits.RAISE));
    }
  }

  private void entries() {
    if (limits.entries().isEmpty()) {
      findings.add(Finding.ok("mappings", "no limit of mappings: vfio_iommu_type1 is not loaded"));
      return;
    }
    long entries = limits.entries().getAsLong();
    String found = "dma_entry_limit is %d mappings per container".formatted(entries);
    findings.add(
        entries >= USUAL_ENTRIES
            ? Finding.ok("mappings", found)
            : Finding.note(
                "mappings",
                found,
                "each registration takes one, and the driver some; the kernel's default is "
                    + USUAL_ENTRIES,
                "before opening the card: " + MemoryLimits.raiseEntries()));
  }

  private long count(String name) {
    return KernelFiles.number(machine.file(HUGE_PAGES + name)).orElse(0L);
  }

  private void hugePages() {
    long free = count("free_hugepages") - count("resv_hugepages");
    if (free > 0) {
      findings.add(
          Finding.ok(
              "huge pages", "%d of 2 MiB are free, for buffers of 2 MiB and more".formatted(free)));
    } else {
      findings.add(
          Finding.note(
              "huge pages",
              "none of 2 MiB are free",
              "large buffers use pages of 4 KiB, which need more translations in processor, IOMMU"
                  + " and card",
              "echo 512 | sudo tee /proc/sys/vm/nr_hugepages"));
    }
  }
}
