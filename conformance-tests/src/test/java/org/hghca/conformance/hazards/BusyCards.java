package org.hghca.conformance.hazards;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.hghca.conformance.profile.TestTime;
import org.hghca.driver.HghcaContext;
import org.hghca.driver.PsnUse;
import org.hghca.model.ModelProvider;
import org.hghca.model.Simulation;
import org.hghca.model.SoftwareHca;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.Completions;
import org.hghca.verbs.ConnectionOptions;
import org.hghca.verbs.Context;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.Mtu;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QpEndpoint;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.RdmaDevices;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;
import org.hghca.vfio.Locator;

/**
 * Two cards of the first RTL with reliable connections between them, whose queue pairs always have
 * requests outstanding, in both directions. Every byte is compared, and those around it.
 */
final class BusyCards implements AutoCloseable {
  /** What a queue pair does all the time. */
  record Load(List<Kind> kinds, int shortest, int longest, int outstanding) {
    static Load mixed(int longest, int outstanding) {
      return new Load(List.of(Kind.values()), 1, longest, outstanding);
    }

    static Load of(Kind kind, int bytes, int outstanding) {
      return new Load(List.of(kind), bytes, bytes, outstanding);
    }
  }

  /** The kinds of requests. */
  enum Kind {
    SEND,
    WRITE,
    READ
  }

  static final int PSNS = 1 << 24;

  private static final AtomicInteger NAMES = new AtomicInteger();
  private static final int GUARD = 32;

  /** Random bytes that messages are copied from. */
  private static final int POOL = 1 << 20;

  private static final byte BLANK = 0x5c;
  private static final Duration STEP = Duration.ofNanos(100_000);
  private static final Duration LIMIT = TestTime.seconds(20);

  private final SplittableRandom random = new SplittableRandom(17);
  private final MemorySegment pool = MemorySegment.ofArray(new byte[POOL]);
  private final List<Side> sides = new ArrayList<>();
  private final List<Lane> lanes = new ArrayList<>();
  private final Completions completions = new Completions(32);

  /** Virtual time; null for the system's. */
  private final Simulation simulation;

  private BooleanSupplier enough;
  private boolean ending;

  /** Requests completed, of all queue pairs. */
  private long completed;

  /** Two cards with threads of their own. */
  BusyCards() {
    this("", false);
  }

  private BusyCards(String parameters, boolean inline) {
    String name = "busy" + NAMES.incrementAndGet();
    simulation = inline ? Simulation.inline(name) : null;
    String mode = inline ? "&mode=inline&sim=" + name : "";
    for (int i = 0; i < POOL; i++) {
      pool.set(ValueLayout.JAVA_BYTE, i, (byte) random.nextInt());
    }
    for (String side : List.of("left", "right")) {
      sides.add(
          new Side(
              "model:%s-%s?profile=r1&cable=%s%s%s".formatted(name, side, name, mode, parameters)));
    }
  }

  /**
   * Two cards that do nothing until all queue pairs have posted, and then everything at once.
   *
   * @param parameters more of the locators, as in {@code &key=value}
   */
  static BusyCards atOnce(String parameters) {
    return new BusyCards(parameters, true);
  }

  /** One of the cards. */
  final class Side {
    final Context context;
    final SoftwareHca hca;
    final ProtectionDomain pd;
    final CompletionQueue cq;
    private final Map<Integer, Queue<Slot>> sends = new HashMap<>();
    private final Map<Integer, Queue<Slot>> receives = new HashMap<>();

    Side(String locator) {
      context = RdmaDevices.open(locator);
      hca = ModelProvider.hca(Locator.parse(locator)).orElseThrow();
      pd = context.allocateProtectionDomain();
      cq = context.createCompletionQueue(4096);
    }

    PsnUse psns() {
      return ((HghcaContext) context).card().psns();
    }

    private void poll() {
      for (int n = cq.poll(completions); n > 0; n = cq.poll(completions)) {
        for (int i = 0; i < n; i++) {
          boolean receive = completions.opcode(i).isReceive();
          Slot slot = (receive ? receives : sends).get(completions.qpNumber(i)).poll();
          assertThat(completions.isSuccess(i)).as(completions.describe(i)).isTrue();
          assertThat(slot).as("request of %s", completions.describe(i)).isNotNull();
          assertThat(completions.wrId(i)).as(completions.describe(i)).isEqualTo(slot.number);
          slot.completed(receive);
        }
      }
    }
  }

  /** One direction of a connection. */
  final class Lane {
    final Side from;
    final Side to;
    private final Load load;
    private final Mtu mtu;
    final QueuePair qp;
    private final List<Slot> slots = new ArrayList<>();
    private Lane opposite;
    private int psn;

    /** Packets sent, with those of READs, which the peer sends. */
    long packets;

    int done;

    /** The longest time from a post to its completion, in nanoseconds. */
    long longestWait;

    /** The most requests of all queue pairs that were completed while one of this one waited. */
    long overtaken;

    /** SENDs and WRITEs that the driver had to take over the wrap, and READs across it. */
    long carried;

    long readsAcross;

    private Lane(Side from, Side to, Load load, int depth, Mtu mtu, int psn) {
      this.from = from;
      this.to = to;
      this.load = load;
      this.mtu = mtu;
      this.psn = psn;
      qp =
          from.pd.createQueuePair(
              QueuePairConfig.rc(from.cq, from.cq)
                  .sendDepth(depth)
                  .receiveDepth(depth)
                  .signalAll());
      from.sends.put(qp.number(), new ArrayDeque<>());
      from.receives.put(qp.number(), new ArrayDeque<>());
      for (int i = 0; i < load.outstanding; i++) {
        slots.add(new Slot(this, i));
      }
      lanes.add(this);
    }

    private QpEndpoint endpoint() {
      return new QpEndpoint(0, qp.number(), psn, from.context.queryGid(1, 0), qp.offerWrapMemory());
    }

    private void connect(QpEndpoint peer) {
      ConnectionOptions options = ConnectionOptions.DEFAULT.withTimeout(0).withPathMtu(mtu);
      qp.modify(options.toInit(qp.type()));
      peer.wrapMemory().ifPresent(qp::takeWrapMemory);
      qp.modify(options.toRtr(qp.type(), peer));
      qp.modify(options.toRts(qp.type(), psn));
    }

    private boolean isBusy() {
      return slots.stream().anyMatch(slot -> slot.outstanding);
    }

    /** Follows the PSN, as the driver must let it go. */
    private void count(Kind kind, int bytes) {
      int count = Math.ceilDiv(bytes, mtu.bytes());
      packets += count;
      if (psn + count < PSNS) {
        psn += count;
      } else if (kind == Kind.READ) {
        readsAcross++;
        psn += count - PSNS;
      } else {
        carried++;
        psn = count;
      }
    }
  }

  /** Memory at both ends for one request at a time. */
  private final class Slot {
    private final Lane lane;
    private final int number;
    private final MemoryRegion here;
    private final MemoryRegion there;
    private final SendRequest request = new SendRequest(1);
    private final ReceiveRequest receive = new ReceiveRequest(1);
    private boolean outstanding;
    private boolean sent;
    private boolean received;
    private Kind kind;
    private int length;
    private int start;
    private long posted;
    private long completedBefore;

    Slot(Lane lane, int number) {
      this.lane = lane;
      this.number = number;
      here = memory(lane.from);
      there = memory(lane.to);
    }

    private MemoryRegion memory(Side side) {
      return side.pd.allocate(
          lane.load.longest + 2L * GUARD,
          AccessFlag.LOCAL_WRITE,
          AccessFlag.REMOTE_READ,
          AccessFlag.REMOTE_WRITE);
    }

    private MemoryRegion target() {
      return kind == Kind.READ ? here : there;
    }

    void post() {
      kind = lane.load.kinds.get(random.nextInt(lane.load.kinds.size()));
      length = random.nextInt(lane.load.shortest, lane.load.longest + 1);
      start = random.nextInt(POOL - length);
      MemoryRegion source = kind == Kind.READ ? there : here;
      MemorySegment.copy(pool, start, source.segment(), GUARD, length);
      target().segment().asSlice(0, length + 2L * GUARD).fill(BLANK);
      outstanding = true;
      sent = false;
      received = kind != Kind.SEND;
      posted = System.nanoTime();
      completedBefore = completed;
      request.wrId(number);
      switch (kind) {
        case SEND -> {
          QueuePair peer = lane.opposite.qp;
          lane.to.receives.get(peer.number()).add(this);
          peer.postReceive(receive.wrId(number).into(there, GUARD, length));
          request.send();
        }
        case WRITE -> request.rdmaWrite(there.address() + GUARD, there.rkey());
        case READ -> request.rdmaRead(there.address() + GUARD, there.rkey());
      }
      lane.from.sends.get(lane.qp.number()).add(this);
      lane.count(kind, length);
      lane.qp.postSend(request.sge(here, GUARD, length));
    }

    void completed(boolean receiver) {
      sent |= !receiver;
      received |= receiver;
      if (sent && received) {
        lane.longestWait = Math.max(lane.longestWait, System.nanoTime() - posted);
        lane.overtaken = Math.max(lane.overtaken, completed - completedBefore);
        lane.done++;
        completed++;
        outstanding = false;
        compare();
        ending = ending || enough.getAsBoolean();
        if (!ending) {
          post();
        }
      }
    }

    private void compare() {
      MemorySegment seen = target().segment();
      long wrong = MemorySegment.mismatch(seen, GUARD, GUARD + length, pool, start, start + length);
      if (wrong >= 0) {
        throw new AssertionError("%s of %d bytes: byte %d is wrong".formatted(kind, length, wrong));
      }
      for (int i = 0; i < GUARD; i++) {
        if (seen.get(ValueLayout.JAVA_BYTE, i) != BLANK
            || seen.get(ValueLayout.JAVA_BYTE, GUARD + length + i) != BLANK) {
          throw new AssertionError("%s of %d bytes: written beside it".formatted(kind, length));
        }
      }
    }
  }

  List<Side> sides() {
    return sides;
  }

  List<Lane> lanes() {
    return lanes;
  }

  /**
   * Makes a connection; the left card's direction is the next lane, the right one's that after it.
   */
  void connect(Load load, Load back, Mtu mtu, int psn) {
    int depth = Math.max(load.outstanding, back.outstanding);
    Lane one = new Lane(sides.get(0), sides.get(1), load, depth, mtu, psn);
    Lane other = new Lane(sides.get(1), sides.get(0), back, depth, mtu, psn);
    one.opposite = other;
    other.opposite = one;
    QpEndpoint left = one.endpoint();
    one.connect(other.endpoint());
    other.connect(left);
  }

  /** Keeps all queue pairs busy until a condition holds, and completes what is outstanding. */
  void run(BooleanSupplier until) {
    enough = until;
    hold(true);
    int most = lanes.stream().mapToInt(lane -> lane.slots.size()).max().orElse(0);
    for (int i = 0; i < most; i++) {
      for (Lane lane : lanes) {
        if (i < lane.slots.size()) {
          lane.slots.get(i).post();
        }
      }
    }
    hold(false);
    long before = -1;
    long progress = System.nanoTime();
    while (lanes.stream().anyMatch(Lane::isBusy)) {
      if (simulation != null) {
        simulation.advance(STEP);
      }
      sides.forEach(Side::poll);
      if (completed == before) {
        assertUnharmed();
        assertThat(System.nanoTime() - progress)
            .as("time without a completion, after %d", completed)
            .isLessThan(LIMIT.toNanos());
        Thread.yield();
      } else {
        before = completed;
        progress = System.nanoTime();
      }
    }
  }

  private void hold(boolean held) {
    if (simulation != null) {
      sides.forEach(side -> side.hca.holdDoorbells(held));
    }
  }

  long completed() {
    return completed;
  }

  List<String> hazards() {
    return sides.stream().flatMap(side -> side.hca.hazards().stream()).toList();
  }

  void assertUnharmed() {
    assertThat(hazards()).isEmpty();
    for (Side side : sides) {
      assertThat(side.hca.faults()).isEmpty();
    }
  }

  @Override
  public void close() {
    for (Lane lane : lanes) {
      lane.qp.close();
    }
    for (Lane lane : lanes) {
      for (Slot slot : lane.slots) {
        slot.here.close();
        slot.there.close();
      }
    }
    for (Side side : sides) {
      side.cq.close();
      side.pd.close();
      side.context.close();
    }
    if (simulation != null) {
      simulation.close();
    }
  }
}
