package org.hghca.tools.raw;

import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalLong;
import org.hghca.abi.WriteMtt;

/** The entries of the translation table as they were sent last. Thread-safe. */
public final class MttEntries {
  private final Map<Long, Long> pages = new HashMap<>();

  /** A WRITE_MTT that the card has accepted. */
  synchronized void learn(CommandRecord given) {
    MemorySegment inbox = MemorySegment.ofArray(given.inbox());
    for (int i = 0; inbox.byteSize() > 0 && i < given.inModifier(); i++) {
      pages.put(WriteMtt.startIndex(inbox) + i, WriteMtt.page(inbox, i));
    }
  }

  /** The card was reset. */
  synchronized void forget() {
    pages.clear();
  }

  /** The bus address of the page that an entry names; empty when it was not sent. */
  public synchronized OptionalLong page(long index) {
    Long page = pages.get(index);
    return page == null ? OptionalLong.empty() : OptionalLong.of(page);
  }
}
