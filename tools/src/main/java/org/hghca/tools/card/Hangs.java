package org.hghca.tools.card;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.HcrCommand;
import org.hghca.abi.WriteMtt;
import org.hghca.icm.IcmTable;
import org.hghca.tools.raw.IcmPages;

/** The commands that stop a card of the RTL, as docs/hardware.md lists them. */
final class Hangs {
  private static final String TABLE = "docs/hardware.md, 'Commands that hang'";
  private static final int MODIFY_WITHOUT_INBOX = 2;

  private Hangs() {}

  /**
   * A command before it is given.
   *
   * @param command null for an opcode that is in no table
   */
  record Request(HcrCommand command, int opModifier, int inModifier, byte[] inbox) {}

  /**
   * What the command would do to a card.
   *
   * @param profiles those that the card may have
   * @return a line of the table; empty for a command that is safe
   */
  static Optional<String> line(List<HardwareProfile> profiles, Request request, IcmPages pages) {
    return request.command() == null
        ? Optional.empty()
        : profiles.stream()
            .filter(profile -> profile != HardwareProfile.S)
            .flatMap(profile -> line(profile, request, pages).stream())
            .findFirst();
  }

  private static Optional<String> line(HardwareProfile profile, Request request, IcmPages pages) {
    HcrCommand command = request.command();
    int modifier = request.inModifier();
    if (command.isModifyQp() && !profile.modifyQpWithoutInbox()) {
      boolean bare =
          request.opModifier() == MODIFY_WITHOUT_INBOX
              || request.opModifier() == HcrCommand.NO_INBOX;
      return when(
          bare,
          "MODIFY_QP without a mailbox (op_modifier 2, 3): 00h, then the next context command"
              + " hangs",
          TABLE);
    }
    return switch (command) {
      case RESIZE_CQ ->
          when(
              !profile.resizeCq(),
              "RESIZE_CQ: 00h, then the first half of the next context command is lost, and it"
                  + " hangs",
              TABLE);
      case QUERY_QP ->
          when(
              !pages.holds(IcmTable.QPC, Integer.toUnsignedLong(modifier), profile),
              "QUERY_QP without mapped page, or before INIT_HCA: hangs",
              TABLE);
      case WRITE_MTT -> writeMtt(profile, request, pages);
      case MAP_ICM ->
          when(
              modifier < 1 || modifier > profile.mapIcmMaxEntries(),
              "MAP_ICM with many entries: hangs, or the entries are lost; one entry a command",
              TABLE);
      case SW2HW_MPT, HW2SW_MPT ->
          when(
              !pages.holds(IcmTable.MPT, Integer.toUnsignedLong(modifier), profile),
              "an MPT page that is not mapped: DMA at bus address 0",
              "docs/hardware.md, line 12.9");
      default -> Optional.empty();
    };
  }

  private static Optional<String> writeMtt(
      HardwareProfile profile, Request request, IcmPages pages) {
    int count = request.inModifier();
    if (count < 1 || count > WriteMtt.MAX_ENTRIES) {
      return Optional.of(
          "WRITE_MTT of 256 entries: hangs; 257 write nothing; 1 to %d are safe (%s)"
              .formatted(WriteMtt.MAX_ENTRIES, TABLE));
    }
    if (request.inbox().length < WriteMtt.HEADER.size()) {
      return Optional.empty(); // the card refuses it
    }
    long first = WriteMtt.START_INDEX.getLong(MemorySegment.ofArray(request.inbox()));
    return when(
        !pages.holds(IcmTable.MTT, first, profile)
            || !pages.holds(IcmTable.MTT, first + count - 1, profile),
        "an MTT page that is not mapped: DMA at bus address 0",
        "docs/hardware.md, line 12.9");
  }

  private static Optional<String> when(boolean hangs, String line, String source) {
    return hangs ? Optional.of("%s (%s)".formatted(line, source)) : Optional.empty();
  }
}
