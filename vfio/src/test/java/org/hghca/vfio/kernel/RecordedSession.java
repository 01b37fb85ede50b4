package org.hghca.vfio.kernel;

import java.lang.foreign.Arena;
import org.hghca.vfio.DmaAccess;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.PciFunctions;

/**
 * The session with QEMU's edu device whose system calls were recorded. To record it again: run this
 * in a virtual machine whose edu device is bound to vfio-pci, with {@code -Dhghca.log=TRACE} and
 * the locator as argument, and keep the text behind {@code TRACE SystemCalls: } of each line.
 */
final class RecordedSession {
  private RecordedSession() {}

  /** Opens a function, uses everything that needs no answer of the device, and closes it. */
  static String run(PciFunction function) {
    try (function;
        Arena arena = Arena.ofConfined()) {
      StringBuilder seen = new StringBuilder();
      seen.append("id %04x".formatted(function.configuration().vendorId()));
      seen.append(", memory space " + function.configuration().enableMemorySpace());
      seen.append(", BAR0 of 0x%x bytes".formatted(function.region(0).size()));
      seen.append(", mapped " + function.region(0).isMapped());
      seen.append(", can reset " + function.canReset());
      seen.append(", %d vectors".formatted(function.interrupts().vectors()));
      function.configuration().busMaster(true);
      try (DmaMapping large =
          function.map(function.memory().allocate(arena, 1L << 30), DmaAccess.READ_WRITE)) {
        seen.append(", 1 GiB at 0x%x".formatted(large.iova(0)));
      }
      return seen.toString();
    }
  }

  public static void main(String[] arguments) {
    System.out.println(run(PciFunctions.open(Locator.parse(arguments[0]))));
  }
}
