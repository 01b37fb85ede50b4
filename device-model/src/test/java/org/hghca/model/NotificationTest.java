package org.hghca.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.hghca.abi.CompletionQueueContext;
import org.hghca.abi.EventQueueContext;
import org.hghca.abi.HcrCommand;
import org.hghca.abi.NextUnit;
import org.hghca.abi.QueuePairContext;
import org.hghca.model.Host.Event;
import org.hghca.model.Host.Piece;
import org.hghca.vfio.DmaAccess;
import org.hghca.vfio.DmaMapping;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Completion events: arming of CQs and EQs, interrupts, queues that are full. */
class NotificationTest {
  private static final int EQN = 3;
  private static final int ARMED = EventQueueContext.ARMED;

  private final Pair pair = new Pair();
  private final Host left = pair.left;
  private final Host right = pair.right;
  private final Host.Buffer source = left.buffer(4096, Host.ALL);
  private final Host.Buffer target = right.buffer(4096, Host.ALL);

  @AfterEach
  void close() {
    pair.close();
  }

  /** The left side's QP gets a CQ of its own on an EQ. */
  private Host.Eq eventsOnTheLeft(int logSize, int flags) {
    Host.Eq eq = left.eq(EQN, logSize, flags);
    pair.a = left.qp(left.cq(6, 0, EQN));
    pair.connect();
    return eq;
  }

  private Host.Eq eventsOnTheRight() {
    Host.Eq eq = right.eq(EQN, 3, ARMED);
    pair.b = right.qp(right.cq(6, 0, EQN));
    pair.connect();
    return eq;
  }

  private static Event completionOf(Host.Cq cq) {
    return new Event(0, 0, cq.number);
  }

  private void write() {
    pair.a.write(target, 0, new Piece(source, 0, 8));
  }

  @Test
  void armedCqGivesOneEventAndOneInterrupt() {
    Host.Eq eq = eventsOnTheLeft(3, ARMED);
    left.arm(pair.a.cq, false);
    assertThat(left.interrupts()).isZero();
    write();
    write();
    assertThat(left.interrupts()).isEqualTo(1L << EQN);
    assertThat(eq.take()).containsExactly(completionOf(pair.a.cq));
    assertThat(left.hca().counters().events()).isEqualTo(1);
    assertThat(left.hca().counters().interrupts()).isEqualTo(1);
    assertThat(left.hca().faults()).isEmpty();
  }

  @Test
  void completionsBeforeTheArmGiveNoEvent() {
    Host.Eq eq = eventsOnTheLeft(3, ARMED);
    write();
    left.arm(pair.a.cq, false);
    assertThat(eq.take()).isEmpty();
    assertThat(left.interrupts()).isZero();
    write();
    assertThat(eq.take()).hasSize(1);
  }

  @Test
  void cqMayBeHandedOverArmed() {
    Host.Eq eq = left.eq(EQN, 3, 0);
    pair.a = left.qp(left.cq(6, CompletionQueueContext.ARMED, EQN));
    pair.connect();
    write();
    assertThat(eq.take()).containsExactly(completionOf(pair.a.cq));
  }

  /** Arms in order ('n'ext, 's'olicited); whether plain and solicited receives give the event. */
  @ParameterizedTest
  @CsvSource({
    "s, false, true",
    "n, true, true",
    "sn, true, true",
    "ns, true, true",
    "ss, false, true"
  })
  void nextTakesPrecedenceOverSolicitedInAnyOrder(String arms, boolean plain, boolean solicited) {
    Host.Eq eq = eventsOnTheRight();
    for (int i = 0; i < arms.length(); i++) {
      right.arm(pair.b.cq, arms.charAt(i) == 's');
    }
    pair.b.receive(new Piece(target, 0, 8));
    pair.b.receive(new Piece(target, 0, 8));
    pair.a.send(new Piece(source, 0, 8));
    assertThat(eq.take()).hasSize(plain ? 1 : 0);
    sendSolicited(8);
    assertThat(eq.take()).hasSize(solicited && !plain ? 1 : 0);
  }

  private void sendSolicited(int length) {
    int wqe = pair.a.write(0x0a, 0, 0, 0, new Piece(source, 0, length));
    MemorySegment ring = pair.a.sendRing.segment();
    NextUnit.write(
        ring, wqe, 0, 0, NextUnit.control(0x0a, 2, NextUnit.MARKER | NextUnit.SOLICITED), 0);
    pair.a.ringDoorbell(wqe, 0x0a, 2, 0);
  }

  @Test
  void longMessageIsSolicitedByItsLastPacket() {
    pair.a.context.set(QueuePairContext.MTU, 1);
    pair.b.context.set(QueuePairContext.MTU, 1);
    Host.Eq eq = right.eq(EQN, 3, ARMED);
    pair.b = right.qp(right.cq(6, 0, EQN));
    pair.b.context.set(QueuePairContext.MTU, 1);
    pair.connect();
    right.arm(pair.b.cq, true);
    pair.b.receive(new Piece(target, 0, 4096));
    sendSolicited(1000);
    assertThat(eq.take()).containsExactly(completionOf(pair.b.cq));
  }

  @Test
  void sendsAreNotSolicitedButErrorsAre() {
    Host.Eq eq = eventsOnTheLeft(3, ARMED);
    left.arm(pair.a.cq, true);
    write();
    assertThat(eq.take()).isEmpty();
    pair.a.write(target, 8192, new Piece(source, 0, 8)); // beyond the region
    assertThat(eq.take()).containsExactly(completionOf(pair.a.cq));
  }

  @Test
  void unarmedEqGetsEntriesAndRaisesNoInterrupt() {
    Host.Eq eq = eventsOnTheLeft(3, 0);
    left.arm(pair.a.cq, false);
    write();
    assertThat(left.interrupts()).isZero();
    // Armed while an entry is pending: at once, and once.
    eq.arm();
    assertThat(left.interrupts()).isEqualTo(1L << EQN);
    assertThat(eq.take()).hasSize(1);
    eq.arm();
    assertThat(left.interrupts()).isZero();
    left.arm(pair.a.cq, false);
    write();
    assertThat(left.interrupts()).isEqualTo(1L << EQN);
  }

  @Test
  void eqRaisesItsVector() {
    left.eq(EQN, 3, ARMED, 31);
    pair.a = left.qp(left.cq(6, CompletionQueueContext.ARMED, EQN));
    pair.connect();
    write();
    assertThat(left.interrupts()).isEqualTo(1L << 31);
    assertThat(left.function.interrupts().vectors()).isEqualTo(32);
    new EventQueueContext(0, 0, 3, 32, Host.PD, 1, 0, 0).encode(left.in());
    assertThat(left.command(HcrCommand.SW2HW_EQ, 0, EQN + 1)).isEqualTo(3);
  }

  @Test
  void entriesAreWrittenWithoutInterrupts() {
    try (Host host =
        Host.open("model:quiet?mode=inline&interrupts=none&events=poll&mac=02:00:00:00:00:03")
            .bringUp()) {
      assertThat(host.function.interrupts().vectors()).isZero();
      Host.Eq eq = host.eq(EQN, 3, ARMED);
      Host.Qp qp = host.qp(host.cq(6, CompletionQueueContext.ARMED, EQN));
      qp.peer(host, qp);
      qp.toRts();
      Host.Buffer buffer = host.buffer(4096, Host.ALL);
      qp.write(buffer, 0, new Piece(buffer, 8, 8));
      assertThat(eq.take()).hasSize(1);
      assertThat(host.hca().counters().interrupts()).isZero();
    }
  }

  @Test
  void fullEqLosesNoEvent() {
    Host.Eq eq = left.eq(EQN, 1, ARMED); // two entries
    List<Event> expected = new ArrayList<>();
    List<Host.Qp> qps = new ArrayList<>();
    for (int i = 0; i < 7; i++) {
      Host.Qp a = left.qp(left.cq(3, CompletionQueueContext.ARMED, EQN));
      Host.Qp b = right.qp();
      Host.connect(left, a, right, b);
      a.write(target, 0, new Piece(source, 0, 8));
      expected.add(completionOf(a.cq));
      qps.add(a);
    }
    assertThat(left.hca().counters().events()).isEqualTo(2);
    assertThat(left.hca().counters().eventOverruns()).isEqualTo(5);
    // A CQ with a waiting event does not wait twice.
    left.arm(qps.get(6).cq, false);
    qps.get(6).write(target, 0, new Piece(source, 0, 8));
    assertThat(left.hca().counters().eventOverruns()).isEqualTo(5);
    List<Event> seen = new ArrayList<>();
    while (left.interrupts() != 0) {
      seen.addAll(eq.take());
      eq.arm();
    }
    assertThat(seen).isEqualTo(expected);
    assertThat(left.hca().counters().events()).isEqualTo(7);
    // Reported events are reported again at the next arm.
    left.arm(qps.get(6).cq, false);
    qps.get(6).write(target, 0, new Piece(source, 0, 8));
    assertThat(eq.take()).containsExactly(completionOf(qps.get(6).cq));
    assertThat(left.hca().faults()).isEmpty();
  }

  @Test
  void indicesWrapAroundTheRing() {
    Host.Eq eq = eventsOnTheLeft(1, ARMED);
    for (int i = 0; i < 100; i++) {
      left.arm(pair.a.cq, false);
      write();
      assertThat(left.interrupts()).isEqualTo(1L << EQN);
      assertThat(eq.take()).containsExactly(completionOf(pair.a.cq));
      eq.arm();
      pair.a.cq.take();
    }
    assertThat(left.hca().counters().eventOverruns()).isZero();
  }

  @Test
  void invalidConsumerIndexIsDroppedAndRecorded() {
    Host.Eq eq = eventsOnTheLeft(3, 0);
    eq.arm(1);
    eq.arm(-1);
    assertThat(left.hca().faults())
        .containsExactly(
            "EQ 3 is armed with consumer index 1, which is not between 0 and producer index 0",
            "EQ 3 is armed with consumer index 16777215, which is not between 0 and producer index"
                + " 0");
    left.arm(pair.a.cq, false);
    write();
    assertThat(left.interrupts()).isZero();
  }

  @Test
  void cqWithoutAnEqLosesItsEvent() {
    pair.a = left.qp(left.cq(6, 0, 9));
    pair.connect();
    left.arm(pair.a.cq, false);
    write();
    assertThat(pair.a.cq.take().failed()).isFalse();
    assertThat(left.hca().faults())
        .containsExactly(
            "a completion event of CQ %d is lost: there is no EQ 9".formatted(pair.a.cq.number));
  }

  @Test
  void returnedEqDiscardsWaitingEvents() {
    Host.Eq eq = eventsOnTheLeft(0, ARMED); // one entry
    left.arm(pair.a.cq, false);
    write();
    left.arm(pair.a.cq, false);
    write();
    assertThat(left.hca().counters().eventOverruns()).isEqualTo(1);
    left.must(HcrCommand.HW2SW_EQ, 0, EQN);
    assertThat(eq.take()).hasSize(1);
    eq.arm();
    assertThat(left.hca().faults()).containsExactly("EQ 3 is armed, but there is no such EQ");
    Host.Eq next = left.eq(EQN, 2, ARMED);
    assertThat(next.take()).isEmpty();
    left.arm(pair.a.cq, false);
    write();
    assertThat(next.take()).containsExactly(completionOf(pair.a.cq));
  }

  @Test
  void resetClearsQueuesAndArms() {
    Host.Eq eq = eventsOnTheLeft(3, ARMED);
    left.arm(pair.a.cq, false);
    left.must(HcrCommand.CLOSE_HCA, 0, 0);
    eq.arm();
    left.arm(pair.a.cq, false);
    assertThat(left.hca().faults()).hasSize(2);
    left.renew();
    Host.Eq again = left.eq(EQN, 3, ARMED);
    pair.a = left.qp(left.cq(6, 0, EQN));
    pair.b = right.qp();
    pair.connect();
    pair.a.write(target, 0);
    assertThat(pair.a.cq.take().failed()).isFalse();
    assertThat(again.take()).isEmpty();
    assertThat(left.interrupts()).isZero();
  }

  /**
   * When two threads write registers, each runs its own work: the memory of one is not accessible
   * to the other.
   */
  @Test
  void writeOfOneThreadNeverRunsTheWorkOfAnother() throws InterruptedException {
    try (Host host = Host.open("model:threads?mode=inline").bringUp();
        Arena arena = Arena.ofConfined()) {
      Host.Eq eq = host.eq(EQN, 10, ARMED);
      Host.Qp qp = host.qp(host.cq(6, 0, EQN));
      qp.peer(host, qp);
      qp.toRts();
      MemorySegment memory = arena.allocate(4096, 4096);
      DmaMapping mapping = host.function.map(memory, DmaAccess.READ_WRITE);
      int key = host.register(mapping, 0x1000, Host.ALL);
      Host.Buffer buffer = new Host.Buffer(memory, mapping, 0x1000, key);
      AtomicBoolean stop = new AtomicBoolean();
      Thread armer =
          Thread.ofPlatform()
              .start(
                  () -> {
                    while (!stop.get()) {
                      host.arm(qp.cq, false);
                      if (host.interrupts() != 0) {
                        eq.take();
                        eq.arm();
                      }
                    }
                  });
      try {
        for (int i = 0; i < 2_000; i++) {
          qp.write(buffer, 0, new Piece(buffer, 8, 8));
          assertThat(qp.cq.take().failed()).as("write %d", i).isFalse();
        }
      } finally {
        stop.set(true);
        armer.join();
      }
      assertThat(host.hca().faults()).isEmpty();
      assertThat(host.function.dmaFaults()).isEmpty();
    }
  }
}
