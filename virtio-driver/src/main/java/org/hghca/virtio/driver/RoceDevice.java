package org.hghca.virtio.driver;

import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.hghca.provider.DeferredFree;
import org.hghca.provider.Health;
import org.hghca.provider.address.KernelNeighbors;
import org.hghca.provider.address.Neighbors;
import org.hghca.provider.srq.SrqRefill;
import org.hghca.verbs.Gid;
import org.hghca.vfio.LinkAddress;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.memory.BufferPool;
import org.hghca.virtio.VirtioDevice;
import org.hghca.virtio.abi.roce.QueuePlan;

/** A device that is brought up, shared by all contexts. Thread-safe. */
final class RoceDevice {
  /** No port has it: locators without {@code mac=} imply addresses that begin with 02. */
  private static final long SOME_MAC = 0x0600_0000_0001L;

  private final VirtioDevice virtio;
  private final QueuePlan plan;
  private final Commands commands;
  private final Limits limits;
  private final Health health;
  private final LinkAddress address;
  private final List<Gid> gids;
  private final Runnable takeDown;
  private final Neighbors neighbors;
  private final BufferPool buffers;
  private final Numbers numbers;
  private final EventThread events;
  private final SrqRefill srqRefill;

  private final DeferredFree deferredFree;

  private final Set<RoceContext> contexts = ConcurrentHashMap.newKeySet();

  /**
   * A device after the bring-up.
   *
   * @param gids in the order of its table
   * @param deferredFree memory that the device did not confirm to let go; freed by the take-down
   * @param takeDown the reverse of the bring-up
   */
  RoceDevice(
      VirtioDevice virtio,
      QueuePlan plan,
      Commands commands,
      Limits limits,
      Health health,
      LinkAddress address,
      List<Gid> gids,
      DeferredFree deferredFree,
      Runnable takeDown) {
    this.virtio = virtio;
    this.plan = plan;
    this.commands = commands;
    this.limits = limits;
    this.health = health;
    this.address = address;
    this.gids = gids;
    this.deferredFree = deferredFree;
    this.takeDown = takeDown;
    this.neighbors = neighbors(virtio.function().locator());
    this.buffers = new BufferPool(virtio.function().memory());
    this.events = new EventThread(this, PortState.of(virtio), plan.cqs());
    this.srqRefill =
        new SrqRefill(
            virtio.function().locator().name(),
            health,
            e -> health.fail("the thread that deals shared receives has failed: " + e));
    this.numbers = new Numbers(virtio, plan, commands, health);
    health.onFailure(() -> contexts.forEach(RoceContext::deviceFailed));
  }

  /** Where the kernel carries packets by UDP, it finds their way; any other port's MAC will do. */
  private static Neighbors neighbors(Locator locator) {
    if (locator.scheme().equals("pci")) {
      return new Neighbors(new KernelNeighbors());
    }
    return LinkAddress.isBound(locator)
        ? new Neighbors(gid -> OptionalLong.of(SOME_MAC))
        : new Neighbors();
  }

  void start() {
    events.start();
  }

  void stop() {
    srqRefill.stop();
    events.stop();
  }

  PciFunction function() {
    return virtio.function();
  }

  VirtioDevice virtio() {
    return virtio;
  }

  RoceInformation information() {
    return new RoceInformation(
        commands.dialect().name(),
        commands.dialect().feature(),
        plan,
        limits.gids(),
        limits.maxMessage(),
        commands.given());
  }

  Commands commands() {
    return commands;
  }

  Limits limits() {
    return limits;
  }

  Health health() {
    return health;
  }

  LinkAddress address() {
    return address;
  }

  List<Gid> gids() {
    return gids;
  }

  Neighbors neighbors() {
    return neighbors;
  }

  BufferPool buffers() {
    return buffers;
  }

  DeferredFree deferredFree() {
    return deferredFree;
  }

  /** Its completion queues and queue pairs. */
  Numbers numbers() {
    return numbers;
  }

  EventThread events() {
    return events;
  }

  /** The thread that deals shared receives while no program polls. */
  SrqRefill srqRefill() {
    return srqRefill;
  }

  Set<RoceContext> contexts() {
    return contexts;
  }

  /** Resets the device and releases it. It has no users any more. */
  void close() {
    try {
      takeDown.run();
    } finally {
      buffers.close();
    }
  }
}
