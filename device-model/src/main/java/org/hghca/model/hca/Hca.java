package org.hghca.model.hca;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.hghca.abi.Bar;
import org.hghca.abi.CommandStatus;
import org.hghca.abi.Doorbell;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.Hcr;
import org.hghca.linux.SpinMutex;
import org.hghca.model.card.Card;
import org.hghca.model.card.CardCounters;
import org.hghca.model.card.Faults;
import org.hghca.model.card.HostMemory;
import org.hghca.model.card.PciIdentity;
import org.hghca.model.card.RegisterQueue;
import org.hghca.model.card.StepBudget;
import org.hghca.model.transport.QueuePairState;
import org.hghca.model.transport.Transport;
import org.hghca.vfio.DeviceBus;
import org.hghca.wire.EthernetPort;
import org.hghca.wire.PacketRun;

/**
 * The card: its registers, which any thread may access, and the resulting work, which is done in
 * steps by one thread at a time.
 */
public final class Hca implements Card {
  /** Interrupt vectors of the card: as many as event queues. */
  public static final int VECTORS = EventQueues.MAX_QUEUES;

  /**
   * The cards of the interface document and of the makers' RTL. Their ids are defined in a vendor's
   * IP block and not documented. These are placeholders: vendor 1234h, which is unassigned and used
   * by emulators, and an arbitrary device id. Class network controller would be 02h; 0207h is its
   * InfiniBand subclass.
   */
  public static final PciIdentity IDENTITY =
      new PciIdentity(
          0x1234,
          0x4843,
          0x02_0700,
          new TreeMap<>(Map.of(Bar.BAR0, (long) Bar.BAR0_SIZE, Bar.BAR2, (long) Bar.BAR2_SIZE)),
          VECTORS,
          List.of());

  /** How long a register write waits for space in the queue, in nanoseconds, before it is lost. */
  private static final long WRITE_PATIENCE = 1_000_000_000L;

  private static final int BYTES_PER_DWORD = 4;

  /** The entry of the register queue that is no UAR offset: go was set. */
  private static final int COMMAND = -1;

  private final HardwareProfile profile;
  private final Faults faults;
  private final EthernetPort port;
  private final HostMemory host;
  private final RegisterQueue writes = new RegisterQueue();
  private final AtomicIntegerArray hcr = new AtomicIntegerArray(Hcr.SIZE / BYTES_PER_DWORD);
  private final Icm icm;
  private final QueuePositions.Table positions = new QueuePositions.Table();
  private final EventQueues eventQueues;
  private final EventRouting events;
  private final CompletionQueues completionQueues;
  private final Transport transport;
  private final CommandUnit commands;
  private volatile boolean unplugged;

  /** Set when the card has failed, until the end of a step reports it. */
  private boolean catastrophe;

  /** The last reported state of the port. */
  private boolean portUp;

  private long doorbellCount;
  private long commandCount;

  /**
   * @param vectors number of interrupt vectors of the function, at most {@link #VECTORS}
   */
  public Hca(HardwareProfile profile, EthernetPort port, Faults faults, int vectors) {
    this.profile = profile;
    this.port = port;
    this.faults = faults;
    this.host = new HostMemory(faults, this::failed);
    this.icm = new Icm(host);
    TranslationTables memory = new TranslationTables(host, icm);
    LocalGids gids = new LocalGids(port);
    QueuePairTable queuePairs = new QueuePairTable(host, icm, gids);
    this.eventQueues = new EventQueues(host, icm, memory, faults, vectors, this::failed);
    this.events = new EventRouting(eventQueues);
    this.completionQueues =
        new CompletionQueues(
            host,
            icm,
            memory,
            faults,
            events,
            this::workQueueFailed,
            profile,
            CardLimits.ALL.maxCqSizeLog());
    ReceiveWqeReader receives = new ReceiveWqeReader(memory);
    SharedReceiveQueues sharedQueues =
        new SharedReceiveQueues(memory, receives, events, CardLimits.ALL.maxQps());
    this.transport =
        new Transport(
            port,
            queuePairs,
            new WorkQueueReader(memory, positions, receives, sharedQueues, gids),
            memory,
            completionQueues,
            events);
    this.commands =
        new CommandUnit(
            profile,
            host,
            icm,
            new ContextTables(
                memory, completionQueues, eventQueues, events, sharedQueues, queuePairs, positions),
            transport,
            gids,
            port);
    port.taker(this::take);
  }

  private void workQueueFailed(int qpn) {
    transport.workQueueFailed(qpn);
  }

  @Override
  public PciIdentity identity() {
    return IDENTITY;
  }

  @Override
  public void attach(DeviceBus bus) {
    host.attach(bus);
  }

  /**
   * Enables or disables the card's access to host memory: the bus master bit of configuration
   * space.
   */
  @Override
  public void busMaster(boolean on) {
    host.enable(on);
  }

  /** Register writes no longer wait. */
  @Override
  public void unplug() {
    unplugged = true;
  }

  /** A register read: the HCR by dwords; everything else is 0. */
  @Override
  public long read(int bar, long offset, int width) {
    int at = bar == Bar.BAR0 && width >= BYTES_PER_DWORD ? hcrIndex(offset) : -1;
    // For an 8-byte read the HCR returns the first dword.
    return at < 0 ? 0 : hcr.get(at) & 0xffff_ffffL;
  }

  private int hcrIndex(long offset) {
    long at = offset - profile.hcrBase();
    return at >= 0 && at < Hcr.SIZE && at % BYTES_PER_DWORD == 0 ? (int) at / BYTES_PER_DWORD : -1;
  }

  /** Whether a register write is one that resets the card; it goes to {@link #reset}. */
  @Override
  public boolean isReset(int bar, long offset, int width, long value) {
    return bar == Bar.BAR0
        && offset == profile.resetOffset()
        && width == BYTES_PER_DWORD
        && (value & 1) != 0;
  }

  /**
   * A register write that is no reset.
   *
   * @return whether something was queued for {@link #step}
   */
  @Override
  public boolean write(int bar, long offset, int width, long value) {
    if (bar == Bar.BAR2) {
      return writeUar((int) offset % Bar.UAR_PAGE_SIZE, width, value);
    }
    if (width != BYTES_PER_DWORD) {
      return false; // the card ignores every other width
    }
    int at = hcrIndex(offset);
    return at >= 0 && writeHcr(at, (int) value);
  }

  private boolean writeHcr(int at, int value) {
    int command = Hcr.COMMAND / BYTES_PER_DWORD;
    if (Hcr.go(hcr.get(command))) {
      faults.record("HCR dword %d written while a command is in progress".formatted(at));
      return false;
    }
    // The token has no low half.
    hcr.set(at, at == Hcr.TOKEN / BYTES_PER_DWORD ? value & 0xffff_0000 : value);
    return at == command && Hcr.go(value) && enqueue(COMMAND, 0);
  }

  private boolean writeUar(int offset, int width, long value) {
    if (offset == Doorbell.SEND_QUEUE && width == Long.BYTES
        || offset == Doorbell.EQ_ARM && width == Integer.BYTES) {
      return enqueue(offset, value);
    }
    if (offset == Doorbell.CQ_ARM && width == Integer.BYTES) {
      completionQueues.arm((int) value);
      return false;
    }
    faults.record(
        "a store of %d bytes to offset 0x%x of a UAR page is dropped".formatted(width, offset));
    return false;
  }

  private boolean enqueue(int register, long value) {
    if (!writes.offer(register, value)) {
      long deadline = System.nanoTime() + WRITE_PATIENCE;
      do {
        if (unplugged || System.nanoTime() > deadline) {
          faults.record("a register write is lost: too many are waiting");
          return false;
        }
        SpinMutex.yieldProcessor();
      } while (!writes.offer(register, value));
    }
    return true;
  }

  /** Whether register writes wait for {@link #step}. */
  @Override
  public boolean hasWrites() {
    return writes.hasEntry();
  }

  @Override
  public boolean step(long now, StepBudget budget) {
    if (!writes.hasEntry() && !port.hasArrived() && !transport.isDue(now) && !catastrophe) {
      return false;
    }
    host.beginStep();
    try {
      return work(now, budget);
    } finally {
      host.endStep();
    }
  }

  /** Takes a run of packets in the step of another card. */
  private boolean take(PacketRun run) {
    host.beginStep();
    try {
      transport.time(run.sentAt);
      boolean taken = host.isDirect() && transport.take(run);
      endWork();
      return taken;
    } finally {
      host.endStep();
    }
  }

  private boolean work(long now, StepBudget budget) {
    transport.time(now);
    boolean worked = takeWrites(budget);
    for (int left = budget.most(); left > 0 && port.hasArrived(); left--) {
      transport.receive(port.fetch());
      worked = true;
    }
    worked |= transport.run(budget.most());
    endWork();
    return worked;
  }

  private void endWork() {
    completionQueues.endStep();
    if (catastrophe) {
      catastrophe = false;
      events.catastrophe();
    }
  }

  private boolean takeWrites(StepBudget budget) {
    int left = budget.most();
    while (left > 0 && writes.hasEntry()) {
      int register = writes.register();
      if (register == COMMAND && !budget.commands()) {
        break;
      }
      long value = writes.value();
      writes.remove();
      written(register, value);
      left--;
    }
    return left < budget.most();
  }

  /** Reports whether the port has come up or gone down since the last call. Between steps only. */
  @Override
  public boolean takesMonitors() {
    return false;
  }

  @Override
  public void watchPort() {
    if (port.isUp() != portUp) {
      portUp = !portUp;
      events.portChanged(portUp);
    }
  }

  private void written(int register, long value) {
    switch (register) {
      case COMMAND -> execute();
      case Doorbell.SEND_QUEUE -> doorbellRung(value);
      default -> eventQueues.arm((int) value);
    }
  }

  private void doorbellRung(long doorbell) {
    doorbellCount++;
    int qpn = Doorbell.qpn(doorbell);
    QueuePairState state = transport.state(qpn);
    if (!state.takesSends()) {
      faults.record("doorbell for QP 0x%x in state %s is dropped".formatted(qpn, state));
    } else if (!positions.of(qpn).announce(doorbell)) {
      faults.record("doorbell for QP 0x%x is lost: too many are waiting".formatted(qpn));
    } else {
      transport.announced(qpn);
    }
  }

  private void execute() {
    commandCount++;
    int command = register(Hcr.COMMAND);
    CommandStatus status =
        commands.execute(
            Hcr.op(command),
            Hcr.opModifier(command),
            parameter(Hcr.IN_PARAM_HIGH),
            register(Hcr.IN_MODIFIER),
            parameter(Hcr.OUT_PARAM_HIGH));
    hcr.set(Hcr.OUT_PARAM_HIGH / BYTES_PER_DWORD, 0);
    hcr.set(Hcr.OUT_PARAM_LOW / BYTES_PER_DWORD, 0);
    hcr.set(Hcr.COMMAND / BYTES_PER_DWORD, Hcr.completed(command, status.code()));
  }

  private int register(int offset) {
    return hcr.get(offset / BYTES_PER_DWORD);
  }

  private long parameter(int offset) {
    return (long) register(offset) << 32
        | Integer.toUnsignedLong(register(offset + BYTES_PER_DWORD));
  }

  /** The card has failed: its event is due. Called on the thread that does the steps. */
  @Override
  public void failed() {
    catastrophe = true;
  }

  /** Resets everything to the state after power-on. Between steps only. */
  @Override
  public void reset() {
    while (writes.hasEntry()) {
      writes.remove();
    }
    commands.reset();
    catastrophe = false;
    for (int i = 0; i < hcr.length(); i++) {
      hcr.set(i, 0);
    }
  }

  /** When {@link #step} is due if nothing happens before, {@code Long.MAX_VALUE}: never. */
  @Override
  public long nextDeadline() {
    return transport.nextDeadline();
  }

  @Override
  public CardCounters counters() {
    return new CardCounters(
        commandCount,
        doorbellCount,
        completionQueues.written(),
        eventQueues.written(),
        eventQueues.interrupts(),
        eventQueues.overruns(),
        transport.counters());
  }

  @Override
  public int icmPages() {
    return icm.mappedPages(false) + icm.mappedPages(true);
  }
}
