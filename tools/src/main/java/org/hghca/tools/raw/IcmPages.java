package org.hghca.tools.raw;

import java.lang.foreign.MemorySegment;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.HcrCommand;
import org.hghca.abi.IcmChunk;
import org.hghca.abi.InitHca;
import org.hghca.abi.MapIcm;
import org.hghca.abi.Mpt;
import org.hghca.abi.QueuePairContext;
import org.hghca.abi.WriteMtt;
import org.hghca.icm.IcmTable;

/** Which pages of the tables in ICM a card was given. Thread-safe. */
public final class IcmPages {
  private final Set<Long> mapped = new HashSet<>();
  private Optional<InitHca> layout = Optional.empty();

  /** A command that the card has accepted. */
  synchronized void learn(HcrCommand command, CommandRecord given) {
    switch (command) {
      case INIT_HCA -> layout = Optional.of(InitHca.decode(MemorySegment.ofArray(given.inbox())));
      case MAP_ICM -> map(given);
      case UNMAP_ICM -> {
        for (long page = 0; page < Integer.toUnsignedLong(given.inModifier()); page++) {
          mapped.remove(given.inParam() + page * MapIcm.PAGE_SIZE);
        }
      }
      case CLOSE_HCA -> forget();
      default -> {}
    }
  }

  /** The card loses what is mapped before INIT_HCA. */
  private void map(CommandRecord given) {
    if (layout.isEmpty() || given.inbox().length == 0) {
      return;
    }
    MemorySegment inbox = MemorySegment.ofArray(given.inbox());
    for (IcmChunk chunk : MapIcm.decode(inbox, given.inModifier())) {
      for (long page = 0; page < chunk.pages(); page++) {
        mapped.add(chunk.virtualAddress() + page * MapIcm.PAGE_SIZE);
      }
    }
  }

  /** The card was reset, or has dropped its tables. */
  synchronized void forget() {
    mapped.clear();
    layout = Optional.empty();
  }

  /** Whether INIT_HCA has laid the tables out. */
  public synchronized boolean isLaidOut() {
    return layout.isPresent();
  }

  /** Whether the page of an entry is mapped. */
  public synchronized boolean holds(IcmTable table, long index, HardwareProfile profile) {
    return layout
        .map(bases -> base(bases, table) + index * entrySize(table, profile))
        .filter(address -> mapped.contains(address & -MapIcm.PAGE_SIZE))
        .isPresent();
  }

  static long base(InitHca bases, IcmTable table) {
    return switch (table) {
      case QPC -> bases.qpcBase();
      case CQC -> bases.cqcBase();
      case EQC -> bases.eqcBase();
      case MPT -> bases.mptBase();
      case MTT -> bases.mttBase();
    };
  }

  private static int entrySize(IcmTable table, HardwareProfile profile) {
    return switch (table) {
      case QPC -> QueuePairContext.ENTRY_SIZE;
      case CQC -> profile.cqcEntrySize();
      case EQC -> profile.eqcEntrySize();
      case MPT -> Mpt.ENTRY_SIZE;
      case MTT -> WriteMtt.ENTRY_SIZE;
    };
  }
}
