package org.hghca.driver.rtl;

import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.QueuePairContext;
import org.hghca.driver.card.Card;
import org.hghca.driver.completion.CompletionParser;
import org.hghca.driver.completion.CompletionRing;
import org.hghca.driver.memory.KeyedMemory;
import org.hghca.driver.object.CardFamily;
import org.hghca.driver.object.DeviceParts;
import org.hghca.driver.object.FamilyCounts;
import org.hghca.driver.ring.ReceiveRing;
import org.hghca.driver.ring.RingShape;
import org.hghca.driver.ring.SendRing;
import org.hghca.driver.ring.SendWriter;
import org.hghca.driver.rtl.recovery.DeviceRecovery;
import org.hghca.driver.rtl.recovery.QueuePairWork;
import org.hghca.driver.rtl.recovery.RecoveredCompletionQueue;
import org.hghca.driver.rtl.recovery.RecoveryCounts;
import org.hghca.driver.rtl.recovery.RtlContextForm;
import org.hghca.driver.rtl.recovery.SoftwareMaintenance;
import org.hghca.driver.rtl.recovery.StateFlowBySoftware;
import org.hghca.driver.rtl.ring.CheckedReceiveRing;
import org.hghca.driver.rtl.ring.DoorbellQuota;
import org.hghca.driver.rtl.ring.EmptyReceiveRegion;
import org.hghca.driver.rtl.ring.KeyTable;
import org.hghca.driver.rtl.ring.QuotaSendRing;
import org.hghca.driver.rtl.ring.ReceiveChecks;
import org.hghca.driver.rtl.ring.RequestMemory;
import org.hghca.driver.rtl.ring.SendChecks;
import org.hghca.driver.rtl.ring.WrapReads;
import org.hghca.driver.state.ContextForm;
import org.hghca.driver.state.ProgrammedContext;
import org.hghca.driver.state.QueuePairState;
import org.hghca.driver.transition.DriverQueuePair;
import org.hghca.driver.transition.StateFlow;
import org.hghca.provider.Undo;
import org.hghca.provider.queue.SpinLock;
import org.hghca.uar.UarPage;
import org.hghca.verbs.BadRequestException;
import org.hghca.verbs.QpType;
import org.hghca.verbs.WrapMemory;
import org.hghca.vfio.DmaMapping;

/**
 * Cards of the makers' RTL, which stop at bad requests and beyond a few doorbells, and neither time
 * out nor flush: checks of requests, a quota for doorbells, state flows in software, and memory for
 * receives that have none.
 */
public final class RtlFamily implements CardFamily {
  /** The bytes that verbs reserve before the payload of every datagram, which this card lacks. */
  private static final int HEADER_BYTES = 40;

  private final Card card;
  private final DeviceParts device;
  private final RtlOptions options;
  private final RegionGuard regions;
  private final Set<RecoveredCompletionQueue> completionQueues = ConcurrentHashMap.newKeySet();
  private final DeviceRecovery recovery;
  private final ContextForm contexts;

  /** Null if queue pairs do not help each other over the PSN wrap. */
  private WrapPages wrapPages;

  private EmptyReceiveRegion emptyReceive;

  /** That of a card that was brought up. */
  public RtlFamily(DeviceParts device, RtlOptions options) {
    this.device = device;
    this.options = options;
    this.card = device.card();
    HardwareProfile profile = card.limits().profile();
    DoorbellQuota quota = new DoorbellQuota(profile, options.outstanding(), options.inFlight());
    this.regions = new RegionGuard(new KeyTable(device.endKey()), this::userOf, card.health());
    this.recovery =
        new DeviceRecovery(
            card,
            quota,
            device.qpNumbers(),
            device.queuePairs(),
            new SoftwareMaintenance(card, quota, device.queuePairs(), completionQueues),
            new RecoveryCounts());
    this.contexts = new RtlContextForm(profile);
  }

  // ---- the device

  @Override
  public void open() {
    try (Undo undo = new Undo()) {
      if (options.carriesPsns()) {
        wrapPages = new WrapPages(device.pdNumbers(), device.queueMemory()); // before any other
        undo.add(wrapPages::close);
      }
      emptyReceive =
          new EmptyReceiveRegion(
              device.pdNumbers(), pd -> device.queueMemory().register(DmaMapping.PAGE_SIZE, pd, 0));
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
  public FamilyCounts counts() {
    RecoveryCounts counts = recovery.counts();
    return new FamilyCounts(
        counts.lateCompletions(),
        counts.endedUnderTraffic(),
        counts.endedAtLastPsn(),
        psnsLeft(),
        recovery.inFlight().carriedWraps(),
        recovery.inFlight().carryingReads());
  }

  private OptionalLong psnsLeft() {
    long[] fewest = {Long.MAX_VALUE};
    device
        .queuePairs()
        .forEach(
            qp -> {
              QuotaSendRing sends = QuotaSendRing.of(qp.rings());
              if (sends.endsAtLastPsn() && !sends.isAtLastPsn()) {
                fewest[0] = Math.min(fewest[0], sends.psnsLeft());
              }
            });
    return fewest[0] == Long.MAX_VALUE ? OptionalLong.empty() : OptionalLong.of(fewest[0]);
  }

  /** The shared state of state flows, and the limits for doorbells. */
  public DeviceRecovery recovery() {
    return recovery;
  }

  // ---- memory

  /** The memory that requests may name. */
  public RegionGuard regions() {
    return regions;
  }

  @Override
  public void admit(KeyedMemory memory) {
    regions.admit(memory);
  }

  @Override
  public void withdraw(KeyedMemory memory) {
    regions.withdraw(memory);
  }

  /** The queue pair with an outstanding request that names memory by this key. */
  private Optional<String> userOf(int key) {
    DriverQueuePair user = device.queuePairs().first(qp -> StateFlowBySoftware.of(qp).names(key));
    return Optional.ofNullable(user).map(DriverQueuePair::describe);
  }

  @Override
  public void endDomain(int pd) {
    if (wrapPages != null) {
      wrapPages.endDomain(pd);
    }
  }

  // ---- queue pairs

  /** Maintenance reads the rings and rings for them, and so do others that return doorbells. */
  @Override
  public boolean sharesRings() {
    return true;
  }

  @Override
  public SendRing sends(
      RingShape shape,
      SendWriter writer,
      UarPage uar,
      SpinLock lock,
      Supplier<BadRequestException> refusal,
      int pd) {
    SendChecks checks =
        new SendChecks(
            new RequestMemory(regions.keys(), pd),
            this::domainOf,
            card.limits().profile().readPiece());
    return new QuotaSendRing(shape, writer, uar, lock, refusal, checks, recovery.inFlight());
  }

  /**
   * The number of a queue pair's protection domain; {@link SendChecks#UNKNOWN} if there is none.
   */
  private int domainOf(int number) {
    DriverQueuePair qp = device.queuePairs().find(number);
    return qp == null ? SendChecks.UNKNOWN : qp.programmed().get(QueuePairContext.PD);
  }

  @Override
  public ReceiveRing receives(QpType type, RingShape shape, int maxSge, int pd) {
    int skipped = type == QpType.UD ? HEADER_BYTES : 0;
    ReceiveChecks checks = new ReceiveChecks(new RequestMemory(regions.keys(), pd), skipped);
    return new CheckedReceiveRing(shape, maxSge, checks, emptyReceive.key());
  }

  @Override
  public ContextForm contexts() {
    return contexts;
  }

  /** The parsers are those that this family has made. */
  @Override
  public StateFlow stateFlow(
      DriverQueuePair qp,
      QueuePairState state,
      ProgrammedContext context,
      CompletionParser sends,
      CompletionParser receives) {
    QueuePairWork work = new QueuePairWork(qp.rings(), (RtlParser) sends, (RtlParser) receives);
    return new StateFlowBySoftware(qp, state, context, work, recovery);
  }

  @Override
  public Optional<WrapMemory> offerWrapMemory(int pd) {
    return Optional.ofNullable(wrapPages).map(pages -> pages.keys(pd).offer());
  }

  @Override
  public void takeWrapMemory(DriverQueuePair qp, WrapMemory ofPeer, int pd) {
    if (wrapPages != null) {
      int most = Math.min(WrapPages.BYTES, card.limits().profile().readBytesInFlight());
      QuotaSendRing.of(qp.rings())
          .wrapBy(new WrapReads(ofPeer, wrapPages.keys(pd).sinkKey(), 0, most));
    }
  }

  // ---- completion queues

  @Override
  public CompletionParser parser(String queue, CompletionRing ring, SpinLock lock) {
    return new RtlParser(
        card, queue, ring, lock, device.rings(), recovery.inFlight(), completionQueues);
  }

  /**
   * The position at which the card continues under this number, since it does not start again, is
   * known only on the first RTL.
   */
  @Override
  public void freeCompletionQueue(int number, int end, boolean used) {
    if (card.limits().profile().positionsResumable()) {
      device.cqNumbers().free(number, end);
    } else if (end == 0 && !used) {
      device.cqNumbers().free(number);
    } else {
      device.cqNumbers().retire(number);
    }
  }
}
