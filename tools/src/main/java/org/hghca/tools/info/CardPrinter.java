package org.hghca.tools.info;

import java.io.PrintWriter;
import org.hghca.abi.DeviceLimits;
import org.hghca.driver.CardInformation;
import org.hghca.driver.PsnUse;
import org.hghca.driver.RetiredNumbers;
import org.hghca.icm.IcmUsage;

/**
 * Prints the information that a card reports, below the block of {@code ibv_devinfo}. It avoids the
 * keywords that programs search for in that block.
 */
final class CardPrinter {
  private static final int KIB = 1024;

  private CardPrinter() {}

  static void print(PrintWriter out, String locator, CardInformation card) {
    out.printf("\tcard:\n");
    out.printf("\t\tlocator:\t%s\n", locator);
    out.printf("\t\tboard:\t\t%016x\n", card.boardId());
    out.printf("\t\tprofile:\t%s\n", card.profile());
    out.printf("\t\tHCR:\t\tBAR0 + 0x%x\n", card.hcrBase());
    limits(out, card.limits());
    out.printf("\t\tICM:\t\t\t%10s %11s %7s\n", "entries", "mapped KiB", "ranges");
    for (IcmUsage table : card.icm()) {
      out.printf(
          "\t\t\t%-8s%10d %11d %7d\n",
          table.table(), table.entries(), table.bytes() / KIB, table.ranges());
    }
    RetiredNumbers retired = card.retired();
    out.printf(
        "\t\tretired:\t%d QPNs, %d CQNs\n", retired.queuePairs(), retired.completionQueues());
    out.printf("\t\tlate CQEs:\t%d\n", retired.lateCompletions());
    out.printf("\t\tended sending:\t%d\n", retired.endedUnderTraffic());
    psns(out, card.psns());
    out.printf("\n");
  }

  private static void psns(PrintWriter out, PsnUse psns) {
    out.printf(
        "\t\tPSN wraps:\t%d by %d READs; %d queue pairs ended before one\n",
        psns.carriedWraps(), psns.carryingReads(), psns.ended());
    if (psns.fewestLeft().isPresent()) {
      out.printf("\t\tPSNs left:\t%d, of the next one to end\n", psns.fewestLeft().getAsLong());
    }
  }

  private static void limits(PrintWriter out, DeviceLimits limits) {
    out.printf("\t\tDEV_LIM:\t\t%10s %9s %7s\n", "most", "reserved", "bytes");
    row(out, "QP", limits.maxQps(), limits.reservedQps(), limits.qpcEntrySize());
    row(out, "CQ", limits.maxCqs(), limits.reservedCqs(), limits.cqcEntrySize());
    row(out, "EQ", limits.maxEqs(), limits.reservedEqs(), limits.eqcEntrySize());
    row(out, "MPT", limits.maxMpts(), limits.reservedLkeys(), limits.mptEntrySize());
    out.printf(
        "\t\t\t%-8s%10s %9d %7d\n", "MTT", "-", limits.reservedMtts(), limits.mttEntrySize());
    out.printf("\t\t\t%-8s%10d %9d %7s\n", "PD", limits.maxPds(), limits.reservedPds(), "-");
    out.printf(
        "\t\t\tsend queue: %d WQEs, each %d SGEs or %d bytes\n",
        limits.maxQpSize(), limits.maxSg(), limits.maxDescSize());
    out.printf(
        "\t\t\treceive queue: %d WQEs, each %d SGEs or %d bytes\n",
        limits.maxQpSize(), limits.maxSgRq(), limits.maxDescSizeRq());
    out.printf("\t\t\tCQ: %d CQEs\n", limits.maxCqSize());
    out.printf(
        "\t\t\tGIDs %d, P_Keys %d, VLs %d, MTU code %d, width code %d, ACK delay %d\n",
        limits.maxGids(),
        limits.maxPkeys(),
        limits.maxVl(),
        limits.maxMtu(),
        limits.maxPortWidth(),
        limits.ackDelay());
    out.printf("\t\t\tICM 0x%x bytes in pages of %d\n", limits.maxIcmSize(), limits.minPageSize());
  }

  private static void row(PrintWriter out, String name, int most, int reserved, int entryBytes) {
    out.printf("\t\t\t%-8s%10d %9d %7d\n", name, most, reserved, entryBytes);
  }
}
