package org.hghca.conformance.hazards;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.hghca.driver.HghcaContext;
import org.hghca.icm.IcmTable;
import org.hghca.icm.IcmUsage;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.SendRequest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The card never reads an unmapped page of its tables: it would access address 0. */
class TranslationHazardsTest {
  private static final Set<AccessFlag> ALL =
      Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ);

  private static IcmUsage usage(OneCard card, IcmTable table) {
    return ((HghcaContext) card.context).card().icm().get(table.ordinal());
  }

  /** For any key that a peer sends, the card reads the page of its entry. */
  @Test
  @Tag("hazard-12.9")
  void everyKeyHasAPageFromTheBeginning() {
    try (OneCard card = OneCard.r1()) {
      IcmUsage keys = usage(card, IcmTable.MPT);
      assertThat(keys.entries()).isEqualTo(1 << 15);
      assertThat(keys.pages()).isEqualTo(512);
      card.assertUnharmed();
    }
  }

  /** For an address below its region, the card reads entries before the region's. */
  @Test
  @Tag("hazard-12.9")
  void everyTranslationEntryHasAPageFromTheBeginning() {
    try (OneCard card = OneCard.r1()) {
      IcmUsage pages = usage(card, IcmTable.MTT);
      assertThat(pages.entries()).isEqualTo(1 << 18);
      assertThat(pages.pages()).isEqualTo(512);
      card.assertUnharmed();
    }
  }

  /** Keys and addresses of peers are looked up before they are refused. */
  @ParameterizedTest(name = "key {0}, {1} bytes off")
  @CsvSource({
    "0, 0",
    "0x7fff, 0",
    "0xdeadbeef, 0",
    "0xffffffff, 0",
    "own, -16",
    "own, -4096",
    "own, 65536",
    "own, 0x7fffffffffff0000",
    "own, -0x7fffffff00000000"
  })
  @Tag("hazard-12.9")
  void noKeyOrAddressOfAPeerReadsBeyondTheTables(String key, String offset) {
    try (LoopedCard it = new LoopedCard()) {
      SendRequest wild = new SendRequest();
      int rkey = key.equals("own") ? it.target.rkey() : Long.decode(key).intValue();
      wild.rdmaWrite(it.target.address() + Long.decode(offset), rkey).sge(it.source, 0, 40);

      it.a.postSend(wild);
      it.settle();

      it.card.assertUnharmed();
    }
  }

  @Test
  @Tag("hazard-12.9")
  void everyRegionIsMappedBeforeItIsWritten() {
    try (OneCard card = OneCard.r1()) {
      ProtectionDomain pd = card.context.allocateProtectionDomain();
      List<MemoryRegion> regions = new ArrayList<>();
      MemoryRegion memory = pd.allocate(8 << 20, ALL);
      regions.add(memory);
      // 2048 pages each: more than one mapping holds.
      for (int i = 0; i < 20; i++) {
        regions.add(pd.register(memory.segment(), ALL));
      }
      assertThat(usage(card, IcmTable.MTT).pages()).isGreaterThan(64);
      card.assertUnharmed();
      regions.reversed().forEach(MemoryRegion::close);
      pd.close();
      card.assertUnharmed();
    }
  }

  /** The card writes table lines back at any time, also those of freed memory. */
  @Test
  @Tag("hazard-12.9")
  @Tag("hazard-11.3")
  void pagesOfTheTableStayMapped() {
    try (OneCard card = OneCard.r1()) {
      ProtectionDomain pd = card.context.allocateProtectionDomain();
      pd.allocate(8 << 20, ALL).close();
      long pages = usage(card, IcmTable.MTT).pages();
      assertThat(pages).isPositive();

      // Enough lines to replace all others.
      for (int i = 0; i < 40; i++) {
        MemoryRegion first = pd.allocate(1 << 20, ALL);
        pd.allocate(4096, ALL).close();
        first.close();
      }

      assertThat(usage(card, IcmTable.MTT).pages()).isGreaterThanOrEqualTo(pages);
      pd.close();
      card.assertUnharmed();
    }
  }

  /** DEV_LIM and the card disagree on the positions of completion queue contexts. */
  @Test
  @Tag("hazard-11.3")
  void manyCompletionQueuesHaveTheirContexts() {
    try (OneCard card = OneCard.r1()) {
      List<CompletionQueue> queues = new ArrayList<>();
      for (int i = 0; i < 300; i++) {
        queues.add(card.context.createCompletionQueue(4));
      }
      card.assertUnharmed();
      queues.forEach(CompletionQueue::close);
      card.assertUnharmed();
    }
  }
}
