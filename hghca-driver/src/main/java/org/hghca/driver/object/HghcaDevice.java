package org.hghca.driver.object;

import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;
import org.hghca.abi.DeviceExtension;
import org.hghca.driver.card.Card;
import org.hghca.driver.card.Limits;
import org.hghca.driver.card.OwnGids;
import org.hghca.driver.event.DeviceEvents;
import org.hghca.driver.memory.QueueMemory;
import org.hghca.driver.memory.Registrar;
import org.hghca.driver.ring.ReceivePosition;
import org.hghca.driver.transition.DriverQueuePair;
import org.hghca.provider.NumberAllocator;
import org.hghca.provider.Undo;
import org.hghca.provider.address.KernelNeighbors;
import org.hghca.provider.address.Neighbors;
import org.hghca.provider.address.SegmentNeighbors;
import org.hghca.provider.object.AbstractContext;
import org.hghca.provider.object.AbstractDevice;
import org.hghca.provider.queue.RingNumbers;
import org.hghca.verbs.Gid;
import org.hghca.vfio.LinkAddress;
import org.hghca.vfio.Locator;

/**
 * A card that this process owns and has brought up: its command interface, tables and numbers,
 * shared by all contexts. Thread-safe.
 */
public final class HghcaDevice extends AbstractDevice {
  private final Card card;
  private final Registrar registrar;
  private final QueueMemory queueMemory;
  private final DeviceObjects objects;
  private final MulticastGroups groups;

  private final NumberAllocator pdNumbers;
  private final RingNumbers<Integer> cqNumbers;
  private final RingNumbers<ReceivePosition> qpNumbers;

  private final CardFamily family;

  /** The port's GIDs in the order of its table; set by {@link #start}. */
  private List<Gid> gids = List.of();

  private final NumberAllocator srqNumbers;
  private DeviceEvents events;

  /**
   * A card after bring-up.
   *
   * @param family makes the family of the card
   * @param takeDown the reverse of the bring-up
   */
  public HghcaDevice(Card card, Function<DeviceParts, CardFamily> family, Runnable takeDown) {
    super(
        card.function(),
        card.health(),
        card.deferredFree(),
        LinkAddress.of(card.function()),
        neighbors(card),
        e -> card.threadFailed("the thread that deals shared receives", e),
        takeDown);
    this.card = card;
    Limits limits = card.limits();
    this.registrar =
        new Registrar(
            card.commands(),
            card.icm(),
            limits.profile(),
            card.deferredFree(),
            limits.device().reservedLkeys(),
            limits.device().reservedMtts());
    this.queueMemory = new QueueMemory(card.function(), registrar);
    this.objects = new DeviceObjects(limits.endQp());
    this.groups = new MulticastGroups(card);
    this.pdNumbers =
        new NumberAllocator(
            "protection domains", limits.device().reservedPds(), limits.device().maxPds());
    this.srqNumbers = new NumberAllocator("shared receive queues", 0, limits.device().maxQps());
    this.cqNumbers = new RingNumbers<>("completion queues", limits.firstCq(), limits.endCq());
    this.qpNumbers =
        new RingNumbers<>(
            "queue pairs",
            limits.firstQp(),
            limits.endQp(),
            limits.startQp(ThreadLocalRandom.current()));
    this.family =
        family.apply(
            new DeviceParts(
                card,
                objects.queuePairs(),
                objects.rings(),
                qpNumbers,
                cqNumbers,
                pdNumbers,
                queueMemory,
                registrar.endKey(),
                () -> events.deliverAll()));
    health().onFailure(this::deviceFailed);
  }

  /** The kernel's network has nothing to do with that of a software HCA. */
  private static Neighbors neighbors(Card card) {
    Locator locator = card.function().locator();
    boolean isCard = locator.scheme().equals("pci");
    return new Neighbors(isCard ? new KernelNeighbors() : new SegmentNeighbors(locator));
  }

  /** Notifies all objects that the device is dead. Under any lock. */
  private void deviceFailed() {
    objects.queuePairs().forEach(DriverQueuePair::deviceFailed);
    contexts().forEach(AbstractContext::deviceFailed);
  }

  /**
   * Starts operation, the last step of the bring-up: the GIDs of the port, the memory of the
   * family, event queues with their thread, and the thread of the family.
   */
  public void start() {
    gids = OwnGids.of(card, address());
    try (Undo undo = new Undo()) {
      family.open();
      undo.add(family::close);
      events =
          new DeviceEvents(
              card,
              queueMemory,
              pdNumbers,
              new EventDispatcher(objects, contexts(), health()),
              this::tick);
      undo.forget();
    }
    family.start();
    opened();
  }

  /** The first step of the shutdown. */
  public void stop() {
    closing();
    srqRefill().stop();
    family.stop();
    events.close();
    family.close();
  }

  /** Stops caching memory for later rings. */
  public void closeRings() {
    queueMemory.close();
  }

  public Card card() {
    return card;
  }

  public QueueMemory queueMemory() {
    return queueMemory;
  }

  Registrar registrar() {
    return registrar;
  }

  /** What its objects are made of on its kind of card. */
  CardFamily family() {
    return family;
  }

  DeviceObjects objects() {
    return objects;
  }

  /** The multicast groups of its queue pairs. */
  MulticastGroups groups() {
    return groups;
  }

  DeviceEvents events() {
    return events;
  }

  /** Whether the card has shared receive queues, and reports their events. */
  boolean sharesReceives() {
    return card.limits().has(DeviceExtension.SHARED_RECEIVE_QUEUES) && events.hasEventQueues();
  }

  NumberAllocator srqNumbers() {
    return srqNumbers;
  }

  NumberAllocator pdNumbers() {
    return pdNumbers;
  }

  /** With the ring slot at which a number is continued, if the family has freed it with one. */
  public RingNumbers<Integer> cqNumbers() {
    return cqNumbers;
  }

  public RingNumbers<ReceivePosition> qpNumbers() {
    return qpNumbers;
  }

  /** What the driver had to do since the bring-up that the card does not. */
  public FamilyCounts counts() {
    return family.counts();
  }

  List<Gid> gids() {
    return gids;
  }
}
