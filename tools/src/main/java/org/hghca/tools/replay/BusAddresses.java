package org.hghca.tools.replay;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.hghca.abi.HcrCommand;
import org.hghca.abi.IcmChunk;
import org.hghca.abi.MapIcm;
import org.hghca.abi.Mpt;
import org.hghca.abi.MptFlags;
import org.hghca.abi.WriteMtt;

/**
 * The bus addresses in inboxes, the same for all profiles: the pages of MAP_ICM and those of
 * WRITE_MTT. All other addresses that a card is given are addresses in ICM, or virtual ones, which
 * its tables translate: contexts, WQEs and CQEs hold no bus address, and stay as they are.
 */
final class BusAddresses {
  private BusAddresses() {}

  /** Gives the bus address on the other card of pages that are in one piece. */
  interface Translation {
    long translate(long iova, int pages);
  }

  /**
   * Translates those of an inbox, in place.
   *
   * @param entries in_modifier
   * @throws UnplayableException when an address cannot be translated, or would be one that the card
   *     uses without translation
   */
  static void translate(HcrCommand command, int entries, MemorySegment inbox, Translation to) {
    switch (command) {
      case MAP_ICM -> {
        List<IcmChunk> chunks = MapIcm.decode(inbox, entries);
        for (int i = 0; i < entries; i++) {
          IcmChunk chunk = chunks.get(i);
          MapIcm.PAGE_ADDRESS.setLong(
              inbox, MapIcm.offset(i), to.translate(chunk.pageAddress(), chunk.pages()));
        }
      }
      case WRITE_MTT -> {
        for (int i = 0; i < entries; i++) {
          WriteMtt.setPage(inbox, i, to.translate(WriteMtt.page(inbox, i), 1));
        }
      }
      case SW2HW_MPT -> {
        if ((Mpt.FLAGS.get(inbox) & MptFlags.PHYSICAL) != 0) {
          throw new UnplayableException(
              "MPT %d is a region of bus addresses (flag PHYSICAL), which WQEs then hold: %s"
                  .formatted(entries, "a replay plays regions that the MTT translates"));
        }
      }
      default -> {}
    }
  }
}
