package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.hghca.conformance.profile.Feature;
import org.hghca.conformance.profile.TestProfile;
import org.hghca.conformance.verbs.RandomProgram.Step;
import org.hghca.conformance.verbs.ReferenceQp.Flaw;
import org.hghca.conformance.verbs.ReferenceQp.Op;
import org.hghca.conformance.verbs.ReferenceQp.Part;
import org.hghca.verbs.Mtu;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.WrOpcode;

/**
 * Executes a random program on two devices and in the reference at the same time. Steps whose
 * result depends on timing run only when the devices are idle.
 */
final class ProgramRun implements AutoCloseable {
  /** Exponents of time-outs: 4 ms, and 134 ms where a busy machine is late. */
  private static final int SHORT = 10;

  private static final int LONG = 15;
  private static final int CONNECTIONS = 3;
  private static final int REGIONS = 4;
  private static final long MOST_BYTES = 9000;
  private static final List<WrOpcode> OPCODES =
      Stream.concat(
              Transfer.possible(MessageSizeTest.OPCODES).stream(),
              TestProfile.has(Feature.ATOMICS)
                  ? Stream.of(WrOpcode.ATOMIC_CMP_AND_SWP, WrOpcode.ATOMIC_FETCH_AND_ADD)
                  : Stream.of())
          .toList();

  /** Whether a message may wait for its receive, be longer than it, or go to a peer in ERR. */
  private static final boolean FORGIVING = TestProfile.has(Feature.RNR_RETRY);

  private final Fabric fabric;
  private final ProgramSide[] sides;
  private final List<ReferenceQp[]> connections = new ArrayList<>();
  private final List<Part> done = new ArrayList<>();
  private final List<Part> undefined = new ArrayList<>();
  private final SendRequest send = new SendRequest();
  private final ReceiveRequest receive = new ReceiveRequest();
  private long lastWrId;

  ProgramRun(Fabric fabric, long seed) {
    this.fabric = fabric;
    this.sides =
        new ProgramSide[] {new ProgramSide(fabric.left()), new ProgramSide(fabric.right())};
    SplittableRandom random = new SplittableRandom(~seed);
    for (ProgramSide side : sides) {
      for (int i = 0; i < REGIONS; i++) {
        side.regions.add(new ProgramRegion(side.pd, random));
      }
    }
    for (int i = 0; i < CONNECTIONS; i++) {
      connections.add(create(random));
    }
  }

  void run(Step step) {
    SplittableRandom random = new SplittableRandom(step.seed());
    ReferenceQp[] connection = ProgramSide.any(connections, random);
    int side = random.nextInt(2);
    switch (step.kind()) {
      case SEND -> send(connection[side], side, Flaw.NONE, random);
      case RECEIVE -> receive(connection[side], side, random);
      case POLL -> sides[side].poll(random);
      case SETTLE -> settle();
      case BAD_SEND -> {
        settle();
        if (!FORGIVING) {
          refused(connection[side], side, random);
          return;
        }
        Flaw flaw = random.nextBoolean() ? Flaw.LOCAL_KEY : Flaw.REMOTE_KEY;
        if (!connection[side].waits() && !connection[1 - side].hasFailed()) {
          send(connection[side], side, flaw, random);
          settle();
        }
      }
      case TO_ERROR -> {
        settle();
        connection[side].qp.modify(QpAttributes.to(QpState.ERR));
        connection[side].toError();
        settle();
      }
      case RECONNECT -> {
        if (FORGIVING) {
          reconnect(failedOr(connection), random);
        } else {
          recreate(failedOr(connection), random);
        }
      }
      case RECREATE -> recreate(connection, random);
      case NEW_REGION -> sides[side].regions.add(new ProgramRegion(sides[side].pd, random));
      case END_REGION -> {
        settle();
        if (!TestProfile.has(Feature.DEREGISTERING_IN_USE)) {
          sides[0].pollAll();
          sides[1].pollAll();
        }
        List<ProgramRegion> regions = sides[side].regions;
        ProgramRegion region = ProgramSide.any(regions, random);
        if (!region.isBusy() && regions.size() > REGIONS) {
          regions.remove(region);
          region.close();
        }
      }
    }
  }

  private void recreate(ReferenceQp[] connection, SplittableRandom random) {
    settle();
    connections.remove(connection);
    end(connection);
    connections.add(create(random));
  }

  /** A request with a bad local key is refused, and changes nothing. */
  private void refused(ReferenceQp end, int side, SplittableRandom random) {
    if (end.hasFailed()) {
      return;
    }
    var region = ProgramSide.any(sides[side].regions, random).region();
    send.wrId(++lastWrId).send().sge(region.address(), 1, region.lkey() ^ 1 << 30).signaled();
    assertThatThrownBy(() -> end.qp.postSend(send)).hasMessageContaining("EINVAL");
  }

  private ReferenceQp[] create(SplittableRandom random) {
    ReferenceQp[] ends = new ReferenceQp[2];
    for (int i = 0; i < 2; i++) {
      ends[i] = new ReferenceQp(sides[i].createQueuePair(random), done::add, undefined::add);
      sides[i].add(ends[i]);
    }
    ends[0].peer = ends[1];
    ends[1].peer = ends[0];
    connect(ends, random);
    return ends;
  }

  private void connect(ReferenceQp[] ends, SplittableRandom random) {
    RcSetup setup =
        new RcSetup()
            .mtu(Mtu.values()[random.nextInt(5)])
            .qpAccess(ProgramRegion.ACCESS)
            .readAtomic(1 << random.nextInt(4))
            .psns(RcSetup.randomPsn(random), RcSetup.randomPsn(random))
            .retries(20, 7, fabric.hasVirtualTime() ? SHORT : LONG, 3);
    RcPair.connect(setup, ends[0].qp, ends[1].qp);
  }

  private ReferenceQp[] failedOr(ReferenceQp[] other) {
    return connections.stream()
        .filter(ends -> ends[0].hasFailed() || ends[1].hasFailed())
        .findFirst()
        .orElse(other);
  }

  private void reconnect(ReferenceQp[] ends, SplittableRandom random) {
    settle();
    for (ReferenceQp end : ends) {
      end.qp.modify(QpAttributes.to(QpState.RESET));
      end.reset();
    }
    connect(ends, random);
  }

  private void end(ReferenceQp[] ends) {
    for (int i = 0; i < 2; i++) {
      ends[i].qp.close();
      ends[i].reset();
      sides[i].remove(ends[i]);
    }
  }

  private Optional<Part> take(int side, long most, int count, SplittableRandom random) {
    ProgramRegion region = ProgramSide.any(sides[side].regions, random);
    return region.take(most, count, random).map(pieces -> new Part(region, pieces));
  }

  private void receive(ReferenceQp end, int side, SplittableRandom random) {
    long atLeast = end.waitingForNextReceive();
    Optional<Part> into = take(side, MOST_BYTES, 1 + random.nextInt(ProgramSide.SGES), random);
    if (into.isEmpty()) {
      return;
    }
    Part part = into.get();
    receive.wrId(++lastWrId).empty();
    part.pieces().addTo(receive, part.region().region());
    if (part.pieces().total() < atLeast || !end.qp.tryPostReceive(receive)) {
      done.add(part);
      return;
    }
    end.postReceive(Op.receive(lastWrId, part));
  }

  private void send(ReferenceQp end, int side, Flaw wanted, SplittableRandom random) {
    WrOpcode opcode = OPCODES.get(random.nextInt(OPCODES.size()));
    boolean atomic =
        opcode == WrOpcode.ATOMIC_CMP_AND_SWP || opcode == WrOpcode.ATOMIC_FETCH_AND_ADD;
    boolean rdma = opcode != WrOpcode.SEND && opcode != WrOpcode.SEND_WITH_IMM;
    Flaw flaw = wanted == Flaw.REMOTE_KEY && !rdma ? Flaw.LOCAL_KEY : wanted;
    long most = random.nextInt(3) == 0 ? MOST_BYTES : ProgramSide.INLINE;
    Part local =
        atomic
            ? takeExactly(side, Long.BYTES, random)
            : take(side, most, 1 + random.nextInt(ProgramSide.SGES), random).orElse(null);
    if (local == null) {
      return;
    }
    long length = local.pieces().total();
    Part remote =
        atomic ? takeWord(1 - side, random) : rdma ? takeExactly(1 - side, length, random) : null;
    long room = end.roomForNext(opcode);
    boolean tooLong = !end.hasFailed() && !end.peer.hasFailed() && room >= 0 && length > room;
    if (rdma && remote == null
        || flaw != Flaw.NONE && length == 0
        || tooLong && (end.waits() || flaw != Flaw.NONE)
        || !FORGIVING && !isHarmless(end, opcode, room, length)) {
      done.add(local);
      if (remote != null) {
        done.add(remote);
      }
      return;
    }
    if (tooLong) {
      settle();
    }
    // Without virtual time only completions show that the devices are idle.
    boolean signaled = random.nextBoolean() || !fabric.hasVirtualTime();
    Part source = opcode == WrOpcode.RDMA_READ || atomic ? remote : local;
    source.region().randomize(source.pieces(), random);
    long[] operands = atomic ? operands(remote, random) : null;
    Op op = new Op(++lastWrId, opcode, signaled, flaw, random.nextInt(), local, remote, operands);
    boolean inline =
        opcode != WrOpcode.RDMA_READ
            && !atomic
            && flaw == Flaw.NONE
            && length <= ProgramSide.INLINE
            && random.nextBoolean();
    if (end.qp.tryPostSend(request(op, inline, random))) {
      end.postSend(op);
    } else {
      done.add(local);
      if (remote != null) {
        done.add(remote);
      }
    }
    if (tooLong) {
      settle();
    }
  }

  /** Whether the peer takes it at once and completely. */
  private static boolean isHarmless(ReferenceQp end, WrOpcode opcode, long room, long length) {
    boolean arrives = room >= length && (!Transfer.takesReceive(opcode) || end.peer.receives());
    return end.hasFailed() || !end.peer.hasFailed() && arrives;
  }

  private Part takeWord(int side, SplittableRandom random) {
    ProgramRegion region = ProgramSide.any(sides[side].regions, random);
    return region.takeWord(random).map(pieces -> new Part(region, pieces)).orElse(null);
  }

  /** Half of the comparisons match. */
  private static long[] operands(Part word, SplittableRandom random) {
    long there = word.region().expectedWord(word.pieces());
    return new long[] {random.nextBoolean() ? there : random.nextLong(), random.nextLong()};
  }

  private Part takeExactly(int side, long length, SplittableRandom random) {
    ProgramRegion region = ProgramSide.any(sides[side].regions, random);
    return region.takeExactly(length, 1, random).map(p -> new Part(region, p)).orElse(null);
  }

  private SendRequest request(Op op, boolean inline, SplittableRandom random) {
    long address = 0;
    int rkey = 0;
    if (op.remote() != null) {
      var region = op.remote().region().region();
      address = region.address() + op.remote().pieces().parts().getFirst().offset();
      rkey = op.flaw() == Flaw.REMOTE_KEY ? region.rkey() ^ 1 << 30 : region.rkey();
    }
    send.wrId(op.wrId());
    switch (op.opcode()) {
      case SEND -> send.send();
      case SEND_WITH_IMM -> send.sendWithImmediate(op.immediate());
      case RDMA_WRITE -> send.rdmaWrite(address, rkey);
      case ATOMIC_CMP_AND_SWP ->
          send.compareAndSwap(address, rkey, op.operands()[0], op.operands()[1]);
      case ATOMIC_FETCH_AND_ADD -> send.fetchAndAdd(address, rkey, op.operands()[1]);
      case RDMA_WRITE_WITH_IMM -> send.rdmaWriteWithImmediate(address, rkey, op.immediate());
      default -> send.rdmaRead(address, rkey);
    }
    var region = op.local().region().region();
    if (op.flaw() == Flaw.LOCAL_KEY) {
      send.sge(region.address(), op.length(), region.lkey() ^ 1 << 30);
    } else {
      op.local().pieces().addTo(send, region);
    }
    if (op.signaled()) {
      send.signaled();
    }
    if (inline) {
      send.inline();
    }
    if (random.nextInt(4) == 0) {
      send.fence();
    }
    return send;
  }

  /** Waits until the devices are idle, and compares memory. */
  private void settle() {
    if (fabric.hasVirtualTime()) {
      fabric.settle();
    } else {
      awaitCompletions();
    }
    undefined.forEach(part -> part.region().expectAnything(part.pieces()));
    fabric.await(() -> differences().isEmpty(), () -> String.join("; ", differences()));
    done.addAll(undefined);
    done.forEach(part -> part.region().release(part.pieces()));
    done.clear();
    undefined.clear();
  }

  /** Offset of the first unexpected byte outside the parts in flight. */
  private List<String> differences() {
    connections.stream()
        .flatMap(Stream::of)
        .flatMap(end -> end.changing().stream())
        .forEach(part -> part.region().expectAnything(part.pieces()));
    return Stream.of(sides)
        .flatMap(side -> side.regions.stream())
        .flatMap(region -> region.difference().stream())
        .toList();
  }

  private void awaitCompletions() {
    fabric.await(
        () -> {
          sides[0].pollAll();
          sides[1].pollAll();
          return missing().isEmpty();
        },
        () -> "missing: " + missing());
  }

  private List<ReferenceQp.Expected> missing() {
    return connections.stream().flatMap(Stream::of).flatMap(end -> end.missing().stream()).toList();
  }

  /** Waits for all expected completions, and checks that no other arrives. */
  void finish() {
    settle();
    awaitCompletions();
    fabric.settle();
    sides[0].pollAll();
    sides[1].pollAll();
    settle();
  }

  @Override
  public void close() {
    connections.forEach(this::end);
    sides[0].close();
    sides[1].close();
    fabric.close();
  }
}
