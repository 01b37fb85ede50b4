package org.hghca.virtio.driver;

import java.util.List;
import java.util.OptionalLong;
import org.hghca.provider.DeferredFree;
import org.hghca.provider.Health;
import org.hghca.provider.address.KernelNeighbors;
import org.hghca.provider.address.Neighbors;
import org.hghca.provider.address.SegmentNeighbors;
import org.hghca.provider.object.AbstractContext;
import org.hghca.provider.object.AbstractDevice;
import org.hghca.verbs.AsyncEventType;
import org.hghca.verbs.Gid;
import org.hghca.vfio.LinkAddress;
import org.hghca.vfio.Locator;
import org.hghca.virtio.VirtioDevice;
import org.hghca.virtio.abi.roce.QueuePlan;

/** A device that is brought up, shared by all contexts. Thread-safe. */
final class RoceDevice extends AbstractDevice {
  /** No port has it: locators without {@code mac=} imply addresses that begin with 02. */
  private static final long SOME_MAC = 0x0600_0000_0001L;

  private static final int PORT = 1;

  private final VirtioDevice virtio;
  private final QueuePlan plan;
  private final Commands commands;
  private final Limits limits;
  private final List<Gid> gids;
  private final Numbers numbers;
  private final EventThread events;

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
    super(
        virtio.function(),
        health,
        deferredFree,
        address,
        neighbors(virtio.function().locator()),
        e -> health.fail("the thread that deals shared receives has failed: " + e),
        takeDown);
    this.virtio = virtio;
    this.plan = plan;
    this.commands = commands;
    this.limits = limits;
    this.gids = gids;
    this.events = new EventThread(virtio, health, plan.cqs(), this::portChanged, this::tick);
    this.numbers = new Numbers(virtio, plan, commands, health);
    health.onFailure(() -> contexts().forEach(AbstractContext::deviceFailed));
  }

  /** Where the kernel or shared memory finds their way; any other port's MAC will do. */
  private static Neighbors neighbors(Locator locator) {
    if (locator.scheme().equals("pci")) {
      return new Neighbors(new KernelNeighbors());
    }
    return LinkAddress.findsNeighbors(locator)
        ? new Neighbors(gid -> OptionalLong.of(SOME_MAC))
        : new Neighbors(new SegmentNeighbors(locator));
  }

  private void portChanged(AsyncEventType type) {
    contexts().forEach(context -> context.raisePort(type, PORT));
  }

  void start() {
    events.start();
    opened();
  }

  void stop() {
    closing();
    srqRefill().stop();
    events.stop();
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

  List<Gid> gids() {
    return gids;
  }

  /** Its completion queues and queue pairs. */
  Numbers numbers() {
    return numbers;
  }

  EventThread events() {
    return events;
  }
}
