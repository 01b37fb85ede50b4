package org.hghca.model.virtio;

import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.hghca.model.card.Card;
import org.hghca.model.card.CardCounters;
import org.hghca.model.card.Faults;
import org.hghca.model.card.HostMemory;
import org.hghca.model.card.PciIdentity;
import org.hghca.model.card.StepBudget;
import org.hghca.model.transport.TransportCounters;
import org.hghca.vfio.DeviceBus;
import org.hghca.virtio.abi.CommonConfig;
import org.hghca.virtio.abi.InterruptStatus;
import org.hghca.virtio.abi.roce.Dialect;
import org.hghca.virtio.abi.roce.PathMtu;
import org.hghca.wire.DropCause;
import org.hghca.wire.EthernetPort;
import org.hghca.wire.Packet;
import org.hghca.wire.PacketRun;

/**
 * A virtio network card: one pair of queues and a control queue, without offloads, and optionally
 * RoCE queues beside them. Registers are accessed by any thread; the queues are used in steps, by
 * one thread at a time.
 */
public final class VirtioNic implements Card {
  /** Bytes of the longest IP packet, with a VLAN tag, in the longest frame. */
  public static final int LARGEST_MTU = Packet.MAX_FRAME - 18;

  /** Every driver may send that. */
  public static final int LEAST_MTU = 68;

  private static final int RECEIVE = 0;
  private static final int TRANSMIT = 1;
  private static final int CONTROL = 2;
  private static final int[] SIZES = {256, 256, 64};
  private static final int MOST_DESCRIPTORS = 256;

  /** One for the configuration, and one for each queue of the NIC. */
  private static final int VECTORS = 1 + SIZES.length;

  private final Faults faults;
  private final EthernetPort port;
  private final HostMemory host;
  private final CommonRegisters registers;
  private final NetConfiguration configuration;
  private final ReceiveMode mode;
  private final PciIdentity identity;

  /** The feature bit of the RoCE queues; 0 without them. */
  private final long roceFeature;

  private final RoceCommands roce;
  private final ControlCommands commands;
  private final RoceQueues roceQueues;
  private final RoceTransport transport;
  private final TransportCounters counters;
  private final NicTraffic traffic;
  private final Chain chain = new Chain(MOST_DESCRIPTORS);

  /** The queues of the NIC that are in use; null for others. */
  private final SplitQueue[] queues = new SplitQueue[SIZES.length];

  private final Notifications notified = new Notifications(RoceLimits.QUEUES.queues());

  private final AtomicInteger interruptStatus = new AtomicInteger();
  private volatile boolean busMaster;
  private volatile boolean rung;
  private long doorbells;
  private long completions;
  private long interrupts;

  /**
   * @param interrupts whether there are interrupt vectors
   * @param mtu bytes of the longest IP packet, as the driver sees it
   * @param dialect of the RoCE queues, if it offers them
   */
  public VirtioNic(
      EthernetPort port, Faults faults, boolean interrupts, int mtu, Optional<Dialect> dialect) {
    this.port = port;
    this.faults = faults;
    this.host = new HostMemory(faults, () -> {});
    int[] sizes = dialect.map(any -> withRoce()).orElse(SIZES);
    int vectors = VECTORS + (dialect.isPresent() ? RoceLimits.CQS : 0);
    this.identity = VirtioFunction.identity(sizes.length, vectors, NetConfiguration.size(dialect));
    this.registers =
        new CommonRegisters(
            dialect.map(FeatureRules::roce).orElse(FeatureRules.NIC),
            interrupts ? vectors : 0,
            faults,
            sizes);
    this.configuration = new NetConfiguration(port.mac(), mtu, dialect);
    this.mode = new ReceiveMode(port.mac());
    RoceObjects objects = new RoceObjects();
    int largestMtu = RoceCommands.largestMtu(mtu);
    this.roceFeature = dialect.map(used -> 1L << used.feature()).orElse(0L);
    this.roceQueues = new RoceQueues(host, registers, this::notifyCompletions);
    this.transport = new RoceTransport(host, port, objects, roceQueues, PathMtu.bytes(largestMtu));
    this.counters = transport.counters();
    this.roce = new RoceCommands(host, objects, transport, largestMtu);
    this.commands = new ControlCommands(host, mode, dialect, roce);
    this.traffic = new NicTraffic(host, port, counters);
    port.takeEverything(mode);
    port.taker(this::take);
  }

  private static int[] withRoce() {
    int[] sizes = Arrays.copyOf(SIZES, RoceLimits.QUEUES.queues());
    int work = RoceLimits.QUEUES.send(0);
    Arrays.fill(sizes, SIZES.length, work, RoceLimits.COMPLETIONS);
    Arrays.fill(sizes, work, sizes.length, RoceLimits.ENTRIES);
    return sizes;
  }

  @Override
  public PciIdentity identity() {
    return identity;
  }

  @Override
  public void attach(DeviceBus bus) {
    host.attach(bus);
  }

  @Override
  public void busMaster(boolean on) {
    busMaster = on;
    host.enable(on);
  }

  @Override
  public long read(int bar, long offset, int width) {
    if (bar != VirtioFunction.BAR) {
      return 0;
    }
    int at = (int) offset % VirtioFunction.PART;
    return switch ((int) offset / VirtioFunction.PART) {
      case VirtioFunction.COMMON -> registers.read(at, width);
      case VirtioFunction.INTERRUPT_STATUS -> at == 0 ? interruptStatus.getAndSet(0) : 0;
      case VirtioFunction.DEVICE -> configuration.read(at, width);
      default -> 0;
    };
  }

  @Override
  public boolean isReset(int bar, long offset, int width, long value) {
    return bar == VirtioFunction.BAR
        && offset == CommonConfig.DEVICE_STATUS.offset()
        && width == CommonConfig.DEVICE_STATUS.width()
        && (value & 0xff) == 0;
  }

  @Override
  public boolean write(int bar, long offset, int width, long value) {
    if (bar != VirtioFunction.BAR) {
      return false;
    }
    int at = (int) offset % VirtioFunction.PART;
    return switch ((int) offset / VirtioFunction.PART) {
      case VirtioFunction.COMMON -> registers.write(at, width, value);
      case VirtioFunction.NOTIFY -> queueNotified((int) value & 0xffff);
      default -> false;
    };
  }

  private boolean queueNotified(int queue) {
    if (queue >= registers.queueCount()) {
      faults.record("queue %d is notified, which there is not".formatted(queue));
      return false;
    }
    notified.add(queue);
    rung = true;
    return true;
  }

  @Override
  public boolean hasWrites() {
    return rung || registers.hasChange();
  }

  @Override
  public boolean step(long now, StepBudget budget) {
    if (!hasWrites()
        && !port.hasArrived()
        && !transport.isDue(now)
        && notified.next(0) == Notifications.NONE) {
      return false;
    }
    host.beginStep();
    try {
      transport.time(now);
      return work(budget);
    } catch (QueueException e) {
      fail(e.getMessage());
      return true;
    } finally {
      host.endStep();
    }
  }

  private boolean work(StepBudget budget) throws QueueException {
    boolean worked = registers.takeChange();
    if (worked) {
      follow();
    }
    boolean kicked = takeNotifications();
    worked |= kicked;
    if (!isServing()) {
      dropArrived();
      return worked;
    }
    worked |= control(budget.most());
    worked |= transmit(budget.most());
    worked |= receive(budget.most());
    if (kicked) {
      passNotifications();
    }
    worked |= transport.run(budget.most());
    transport.endStep();
    return worked;
  }

  /**
   * Takes a run of packets in the step of another card. Registers that this card has to follow come
   * first: then its own step gets the packets.
   */
  private boolean take(PacketRun run) {
    if (registers.hasChange() || !isServing() || !hasRoce() || !transport.takes(run.first)) {
      return false;
    }
    boolean taken = false;
    host.beginStep();
    try {
      transport.time(run.sentAt);
      taken = host.isDirect() && transport.receive(run);
      transport.endStep();
    } catch (QueueException e) {
      fail(e.getMessage());
    } finally {
      host.endStep();
    }
    return taken;
  }

  /** Whether a queue was notified since the last call. */
  private boolean takeNotifications() {
    if (!rung) {
      return false;
    }
    rung = false; // only then: a notification that comes now is not to be forgotten
    return true;
  }

  /** Whether the driver is ready, and the card has not failed and may access memory. */
  private boolean isServing() {
    return busMaster && registers.isRunning();
  }

  private void passNotifications() {
    for (int i = notified.next(queues.length); i != Notifications.NONE; i = notified.next(i + 1)) {
      notified.take(i); // only then: a notification that comes now is not to be forgotten
      doorbells++;
      transport.notified(i);
    }
  }

  private boolean hasRoce() {
    return (registers.features() & roceFeature) != 0;
  }

  private void notifyCompletions(int vector) {
    interrupt(vector, InterruptStatus.QUEUE);
  }

  /** Takes queues into use, or out of use, as the registers say. */
  private void follow() {
    for (int i = 0; i < registers.queueCount(); i++) {
      if (registers.isResetting(i)) {
        if (i < queues.length) {
          queues[i] = null;
        } else {
          transport.queueReset(i);
        }
        registers.ended(i);
      }
    }
    for (int i = 0; i < queues.length; i++) {
      if (queues[i] == null && registers.runs(i)) {
        queues[i] = new SplitQueue(host, registers.queue(i), registers.features());
        notified.add(i); // there may be chains already
      }
    }
  }

  private boolean control(int most) throws QueueException {
    if (!begins(CONTROL)) {
      return false;
    }
    SplitQueue queue = queues[CONTROL];
    for (int left = most; left > 0; left--) {
      if (!queue.take(chain)) {
        break;
      }
      queue.complete(chain.head(), commands.execute(chain, registers.features()));
      completions++;
    }
    configuration.mac(mode.own());
    end(CONTROL);
    return true;
  }

  private boolean transmit(int most) throws QueueException {
    if (!port.hasRoom() || !begins(TRANSMIT)) {
      return false;
    }
    SplitQueue queue = queues[TRANSMIT];
    for (int left = most; left > 0 && port.hasRoom(); left--) {
      if (!queue.take(chain)) {
        break;
      }
      traffic.send(chain);
      queue.complete(chain.head(), 0);
      completions++;
    }
    end(TRANSMIT);
    return true;
  }

  private boolean receive(int most) throws QueueException {
    if (!port.hasArrived()) {
      return false;
    }
    boolean roceToo = hasRoce();
    SplitQueue queue = queues[RECEIVE];
    for (int left = most; left > 0 && port.hasArrived(); left--) {
      Packet packet = port.fetch();
      if (roceToo && transport.takes(packet)) {
        transport.receive(packet);
        continue;
      }
      if (queue == null || !queue.take(chain)) {
        counters.drops.count(DropCause.UNWANTED);
      } else {
        receive(queue, packet);
      }
      port.pool().giveBack(packet);
    }
    if (queue != null) {
      publish(queue);
    }
    return true;
  }

  private void receive(SplitQueue queue, Packet packet) throws QueueException {
    int written = traffic.receive(packet, chain);
    if (written == 0) {
      queue.putBack();
    } else {
      queue.complete(chain.head(), written);
      completions++;
    }
  }

  private void dropArrived() {
    while (port.hasArrived()) {
      port.pool().giveBack(port.fetch());
    }
  }

  private boolean begins(int queue) {
    if (queues[queue] == null || !notified.take(queue)) {
      return false;
    }
    doorbells++;
    return true;
  }

  private void end(int index) throws QueueException {
    SplitQueue queue = queues[index];
    publish(queue);
    if (queue.listen()) {
      notified.add(index);
    }
  }

  private void publish(SplitQueue queue) throws QueueException {
    if (queue.publish()) {
      interrupt(queue.vector(), InterruptStatus.QUEUE);
    }
  }

  private void interrupt(int vector, int status) {
    interruptStatus.getAndUpdate(before -> before | status);
    if (vector != CommonConfig.NO_VECTOR) {
      interrupts++;
      host.raise(vector);
    }
  }

  /** The driver has broken a rule: nothing more happens until it resets the card. */
  private void fail(String why) {
    faults.record("the card needs a reset: " + why);
    failed();
  }

  @Override
  public void failed() {
    boolean ran = registers.isRunning();
    registers.needsReset();
    if (ran) {
      interrupt(registers.configVector(), InterruptStatus.CONFIGURATION);
    }
  }

  @Override
  public void watchPort() {
    if (configuration.link(port.isUp())) {
      registers.configurationChanged();
      if (registers.isRunning()) {
        interrupt(registers.configVector(), InterruptStatus.CONFIGURATION);
      }
    }
  }

  @Override
  public void reset() {
    registers.reset();
    mode.reset();
    roce.reset();
    configuration.mac(mode.own());
    interruptStatus.set(0);
    rung = false;
    Arrays.fill(queues, null);
    notified.clear();
  }

  @Override
  public long nextDeadline() {
    return isServing() ? transport.nextDeadline() : Long.MAX_VALUE;
  }

  @Override
  public CardCounters counters() {
    return new CardCounters(
        commands.count(),
        doorbells,
        completions + transport.completions(),
        0,
        interrupts,
        0,
        counters);
  }
}
