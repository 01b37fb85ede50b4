package org.hghca.driver.object;

import java.util.Optional;
import java.util.OptionalInt;
import org.hghca.abi.DeviceExtension;
import org.hghca.driver.card.Card;
import org.hghca.driver.card.Features;
import org.hghca.driver.card.Limits;
import org.hghca.driver.memory.RingSource;
import org.hghca.driver.state.ContextAttributes;
import org.hghca.driver.state.Port;
import org.hghca.provider.Failures;
import org.hghca.provider.Undo;
import org.hghca.provider.object.AbstractContext;
import org.hghca.uar.UarPage;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.CompletionQueueConfig;
import org.hghca.verbs.DeviceAttributes;
import org.hghca.verbs.PortAttributes;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.RdmaDevice;

/** One opening of a device: its doorbell page, protection domains, queues and keys. */
public class DeviceContext extends AbstractContext {
  private final HghcaDevice hghca;
  private final Card card;
  private final UarPage uar;
  private final int queuePd;
  private final RingSource completionRings;

  /** Of all domains; empty where a key serves the rings of one domain only. */
  private final Optional<RingSource> queuePairRings;

  private final Port port;
  private final ContextAttributes attributes;
  private final DeviceAttributes deviceAttributes;

  /**
   * Opens a context.
   *
   * @param onClose releases the device
   */
  public DeviceContext(RdmaDevice name, HghcaDevice hghca, Runnable onClose) {
    super(name, hghca, onClose);
    this.hghca = hghca;
    this.card = hghca.card();
    this.port =
        new Port(
            name.name(),
            hghca.address(),
            hghca.gids(),
            hghca.neighbors(),
            card.limits(),
            card::portInfo);
    this.attributes = new ContextAttributes(card.limits(), port, this::entropy);
    try (Undo undo = new Undo()) {
      this.deviceAttributes = deviceAttributes();
      this.uar = card.uars().allocate();
      undo.add(uar::close);
      this.queuePd = hghca.pdNumbers().allocate();
      undo.add(() -> hghca.pdNumbers().free(queuePd));
      this.completionRings =
          hghca
              .queueMemory()
              .ofCompletionQueues(
                  queuePd, card.limits().has(DeviceExtension.COMPLETION_RING_OFFSETS));
      this.queuePairRings =
          card.limits().has(DeviceExtension.RINGS_OF_ALL_DOMAINS)
              ? Optional.of(hghca.queueMemory().ofAllDomains(queuePd))
              : Optional.empty();
      open();
      undo.forget();
    } catch (RuntimeException e) {
      throw Failures.of("cannot open " + name.name(), e);
    }
  }

  HghcaDevice hghca() {
    return hghca;
  }

  UarPage uar() {
    return uar;
  }

  @Override
  protected Port port() {
    return port;
  }

  /** Converts attributes of its queue pairs to the card's context. */
  ContextAttributes attributes() {
    return attributes;
  }

  /** The protection domain of the rings' memory, which applications do not see. */
  int queuePd() {
    return queuePd;
  }

  /** Memory of the completion queues' rings. */
  RingSource completionRings() {
    return completionRings;
  }

  /** Memory of the rings of a domain's queue pairs, which the domain closes. */
  RingSource queuePairRings(int pd) {
    return queuePairRings
        .map(RingSource::lent)
        .orElseGet(
            () ->
                hghca.queueMemory().ofDomain(pd, card.limits().has(DeviceExtension.RING_OFFSETS)));
  }

  @Override
  public DeviceAttributes queryDevice() {
    check();
    return deviceAttributes;
  }

  private DeviceAttributes deviceAttributes() {
    Limits limits = card.limits();
    return baseAttributes()
        .hardwareVersion(card.function().configuration().revisionId())
        .boardId("%016x".formatted(card.adapter().boardId()))
        .physicalPorts(limits.device().ports())
        .maxMrSize(card.maxMrSize())
        .maxQp(limits.endQp() - limits.firstQp())
        .maxQpWr(limits.maxQpWr())
        .maxSge(Math.min(limits.maxSge(), limits.maxReceiveSge()))
        .maxSgeRead(limits.maxSge())
        .maxCq(limits.endCq() - limits.firstCq())
        .maxCqe(limits.maxCqEntries())
        .maxMr(hghca.registrar().capacity())
        .maxPd(limits.device().maxPds() - limits.device().reservedPds())
        .maxQpReadAtomic(limits.maxReadAtomic())
        .maxReadAtomic(limits.maxReadAtomic() * (limits.endQp() - limits.firstQp()))
        .maxQpInitiatorReadAtomic(limits.maxReadAtomic())
        .atomics(limits.profile().atomics())
        .maxSrq(limits.maxSrq())
        .maxMulticastGroups(limits.maxMulticastGroups())
        .maxMulticastAttach(limits.maxMulticastAttach())
        .maxTotalMulticastAttach(limits.maxMulticastGroups() * limits.maxMulticastAttach())
        .localAckDelay(limits.device().ackDelay())
        .maxInline(limits.maxInline())
        .remoteBoundsGranularity(limits.profile().remoteBoundsGranularity())
        .completionVectors(hghca.events().completionVectors())
        .features(Features.of(limits, hghca.events().hasEventQueues()))
        .quirks(Features.quirks(limits, hghca.events().hasEventQueues()))
        .advice(Features.advice(limits))
        .build();
  }

  @Override
  public PortAttributes queryPort(int number) {
    check();
    return port.attributes(number);
  }

  // ---- for shared receive queues

  @Override
  public int maxSrqWr() {
    return card.limits().maxSrqWr();
  }

  @Override
  public int maxSrqSge() {
    return card.limits().maxSrqSge();
  }

  @Override
  protected long commandsGiven() {
    return card.commands().commandsGiven();
  }

  @Override
  public long[] interrupts() {
    check();
    return hghca.events().interrupts();
  }

  @Override
  public OptionalInt interruptOf(int completionVector) {
    check();
    return hghca.events().interruptOf(completionVector);
  }

  @Override
  protected long missedEvents() {
    return hghca.events().missed();
  }

  @Override
  public ProtectionDomain allocateProtectionDomain() {
    check();
    return new HghcaProtectionDomain(this);
  }

  @Override
  public CompletionQueue createCompletionQueue(CompletionQueueConfig config) {
    check();
    return new HghcaCompletionQueue(this, config);
  }

  @Override
  protected void releaseParts() {
    queuePairRings.ifPresent(RingSource::close);
    completionRings.close();
    hghca.pdNumbers().free(queuePd);
    uar.close();
  }
}
