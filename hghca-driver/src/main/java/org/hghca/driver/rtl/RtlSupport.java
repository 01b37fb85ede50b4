package org.hghca.driver.rtl;

import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.IntUnaryOperator;
import org.hghca.abi.HardwareProfile;
import org.hghca.driver.card.Card;
import org.hghca.driver.card.CompletionDecode;
import org.hghca.driver.completion.CompletionParser;
import org.hghca.driver.completion.CompletionRing;
import org.hghca.driver.completion.QpTable;
import org.hghca.driver.completion.QueuePairRings;
import org.hghca.driver.memory.QueueMemory;
import org.hghca.driver.object.CardSupport;
import org.hghca.driver.ring.ReceiveChecks;
import org.hghca.driver.rtl.recovery.DeviceRecovery;
import org.hghca.driver.rtl.ring.CarefulReceiveChecks;
import org.hghca.driver.rtl.ring.KeyTable;
import org.hghca.driver.rtl.ring.QuotaSendRing;
import org.hghca.driver.rtl.ring.RequestMemory;
import org.hghca.driver.rtl.ring.SendChecks;
import org.hghca.provider.NumberAllocator;
import org.hghca.provider.Undo;
import org.hghca.vfio.DmaMapping;

/**
 * The driver's part on the makers' RTL, which stops at bad requests and beyond a few doorbells, and
 * neither times out nor flushes: checks of requests, limits for doorbells, error flows in software,
 * and memory for receives that have none.
 */
public final class RtlSupport extends CardSupport {
  private final Card card;
  private final QpTable<QueuePairRings> rings;
  private final IntUnaryOperator domainOf;
  private final RegionGuard regions;
  private final DeviceRecovery recovery;
  private final QueueMemory queueMemory;
  private final NumberAllocator pdNumbers;

  /** Null if queue pairs do not help each other over the PSN wrap. */
  private WrapPages wrapPages;

  private EmptyReceiveRegion emptyReceive;

  /**
   * For a card that was brought up.
   *
   * @param rings of the queue pairs, by number
   * @param domainOf the protection domain of a queue pair, or {@link SendChecks#UNKNOWN}
   */
  public RtlSupport(
      Card card,
      QpTable<QueuePairRings> rings,
      IntUnaryOperator domainOf,
      RegionGuard regions,
      DeviceRecovery recovery,
      QueueMemory queueMemory,
      NumberAllocator pdNumbers) {
    this.card = card;
    this.rings = rings;
    this.domainOf = domainOf;
    this.regions = regions;
    this.recovery = recovery;
    this.queueMemory = queueMemory;
    this.pdNumbers = pdNumbers;
  }

  @Override
  public void open() {
    try (Undo undo = new Undo()) {
      if (card.limits().carriesPsns()) {
        wrapPages = new WrapPages(pdNumbers, queueMemory); // before any other memory
        undo.add(wrapPages::close);
      }
      emptyReceive =
          new EmptyReceiveRegion(
              pdNumbers, pd -> queueMemory.register(DmaMapping.PAGE_SIZE, pd, 0));
      undo.forget();
    }
  }

  @Override
  public void start() {
    recovery.maintenance().start();
  }

  @Override
  public void stop() {
    recovery.maintenance().stop();
  }

  @Override
  public void close() {
    emptyReceive.close();
    if (wrapPages != null) {
      wrapPages.close();
    }
  }

  @Override
  public OptionalLong psnsLeft() {
    long[] fewest = {Long.MAX_VALUE};
    recovery
        .queuePairs()
        .forEach(
            qp -> {
              QuotaSendRing sends = qp.software().sends();
              if (sends.endsAtLastPsn() && !sends.isAtLastPsn()) {
                fewest[0] = Math.min(fewest[0], sends.psnsLeft());
              }
            });
    return fewest[0] == Long.MAX_VALUE ? OptionalLong.empty() : OptionalLong.of(fewest[0]);
  }

  @Override
  public long carriedWraps() {
    return recovery.inFlight().carriedWraps();
  }

  @Override
  public long carryingReads() {
    return recovery.inFlight().carryingReads();
  }

  @Override
  public Optional<WrapPages.Keys> wrapKeys(int pd) {
    return Optional.ofNullable(wrapPages).map(pages -> pages.keys(pd));
  }

  @Override
  public void admit(KeyTable.Entry entry) {
    regions.admit(entry);
  }

  @Override
  public void withdraw(KeyTable.Entry entry) {
    regions.withdraw(entry);
  }

  @Override
  public int fillerKey() {
    return emptyReceive.key();
  }

  @Override
  public ReceiveChecks receiveChecks(int pd, int bytesBefore) {
    return new CarefulReceiveChecks(requestMemory(pd), bytesBefore);
  }

  /** The checks of sends of a queue pair in a protection domain. */
  public SendChecks sendChecks(int pd) {
    HardwareProfile profile = card.limits().profile();
    return new SendChecks(requestMemory(pd), domainOf, profile.readPiece());
  }

  private RequestMemory requestMemory(int pd) {
    return new RequestMemory(regions.keys(), pd);
  }

  @Override
  public CompletionParser parser(String queue, CompletionRing ring) {
    CompletionDecode decode = new CompletionDecode(card.limits().profile());
    return RtlParser.of(queue, ring, rings, decode, card.health(), recovery.inFlight());
  }

  public RegionGuard regions() {
    return regions;
  }

  /** The shared state of error flows, and the limits for doorbells. */
  public DeviceRecovery recovery() {
    return recovery;
  }

  @Override
  public RtlSupport rtl() {
    return this;
  }
}
