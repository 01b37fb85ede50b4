package org.hghca.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.hghca.abi.CompletionQueueContext;
import org.hghca.abi.EventQueueContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Faults of completions, events and interrupts. */
class EventFaultsTest {
  private static final int EQ_FLAGS =
      EventQueueContext.OWNER_HW | EventQueueContext.TRANSLATE | EventQueueContext.ARMED;
  private static final int VECTOR = 3;

  @Test
  void noCompletionIsWritten() {
    try (FaultyHost faulty = new FaultyHost("fault=no-cqe").bringUp()) {
      assertThat(faulty.written(0, 64)).isEqualTo(FaultyHost.expected(0, 64));
      assertThat(faulty.isCompleted()).isFalse();
      assertThat(faulty.host.hca().counters().completions()).isEqualTo(1);
    }
  }

  @ParameterizedTest
  @CsvSource({"cqe-wrong-qpn, 32, 8", "cqe-wrong-opcode, 0, 9", "no-eqe, 0, 8"})
  void completionNamesSomethingElse(String fault, int wrong, int opcode) {
    try (FaultyHost faulty = new FaultyHost("fault=" + fault).bringUp()) {
      faulty.write(0, 64);
      Host.Completion completion = faulty.qp.cq.take();
      assertThat(completion.qpn()).isEqualTo(faulty.qp.number ^ wrong);
      assertThat(completion.opcode()).isEqualTo(opcode);
      assertThat(completion.bytes()).isEqualTo(64);
    }
  }

  /** An error keeps its opcode: it is what tells that it is one. */
  @Test
  void wrongOpcodeLeavesErrors() {
    try (FaultyHost faulty = new FaultyHost("fault=cqe-wrong-opcode").bringUp()) {
      Host.Buffer unknown = new Host.Buffer(null, null, 0, 999);
      faulty.qp.write(faulty.target, 0, new Host.Piece(unknown, 0, 64));
      assertThat(faulty.qp.cq.take().failed()).isTrue();
    }
  }

  @Test
  void eachFifthCompletionComesTwice() {
    try (FaultyHost faulty = new FaultyHost("fault=cqe-duplicate").bringUp()) {
      for (int i = 1; i <= 200; i++) { // several times around the ring of 64
        faulty.write(0, i);
        for (int times = i % 5 == 0 ? 2 : 1; times > 0; times--) {
          assertThat(faulty.qp.cq.take().bytes()).isEqualTo(i);
        }
        assertThat(faulty.isCompleted()).as("message %d", i).isFalse();
      }
    }
  }

  @Test
  void completionsBehindTheEndOfTheRingAreLost() {
    try (FaultyHost faulty = new FaultyHost("fault=cq-no-wrap")) {
      faulty.host.bringUp();
      faulty.connect(3);
      for (int i = 0; i < 20; i++) {
        faulty.write(0, 64);
        assertThat(faulty.isCompleted()).as("message %d", i).isEqualTo(i < 8);
        if (i < 8) {
          faulty.qp.cq.take();
        }
      }
    }
  }

  /** A queue whose completions raise events, and the queue of those. */
  private static Host.Eq events(FaultyHost faulty, int logSize) {
    Host host = faulty.host.bringUp();
    Host.Eq eq = host.eq(1, logSize, EQ_FLAGS, VECTOR);
    Host.Cq cq = host.cq(6, CompletionQueueContext.ARMED, 1);
    faulty.connect(3);
    faulty.qp = host.qp(cq);
    faulty.qp.peer(host, faulty.qp);
    faulty.qp.toRts();
    return eq;
  }

  @ParameterizedTest
  @CsvSource({
    "no-eqe, 0, 8",
    "no-interrupt, 1, 0",
    "wrong-vector, 1, 16",
    "one-interrupt, 1, 8",
    "interrupt-storm, 1, 8",
    "one-vector, 1, 0",
    "no-cqe, 1, 8"
  })
  void firstEvent(String fault, int entries, long vectors) {
    try (FaultyHost faulty = new FaultyHost("fault=" + fault)) {
      Host.Eq eq = events(faulty, 4);
      faulty.write(0, 64);
      assertThat(eq.take()).hasSize(entries);
      assertThat(faulty.host.interrupts()).isEqualTo(vectors);
    }
  }

  @ParameterizedTest
  @CsvSource({"one-interrupt, 1", "no-cqe, 3"})
  void laterEvents(String fault, int expected) {
    try (FaultyHost faulty = new FaultyHost("fault=" + fault)) {
      Host.Eq eq = events(faulty, 4);
      int raised = 0;
      for (int i = 0; i < 3; i++) {
        faulty.write(0, 64);
        raised += Long.bitCount(faulty.host.interrupts());
        assertThat(eq.take()).hasSize(1);
        faulty.host.arm(faulty.qp.cq, false);
        eq.arm();
      }
      assertThat(raised).isEqualTo(expected);
    }
  }

  @Test
  void stormRaisesEachInterruptAHundredTimes() {
    try (FaultyHost faulty = new FaultyHost("fault=interrupt-storm")) {
      events(faulty, 4);
      faulty.write(0, 64);
      int raised = Long.bitCount(faulty.host.interrupts());
      for (int i = 0; i < 1000; i++) {
        faulty.advance(Duration.ofNanos(5_000));
        raised += Long.bitCount(faulty.host.interrupts());
      }
      assertThat(raised).isEqualTo(100);
    }
  }

  @Test
  void eventsBehindTheEndOfTheRingAreLost() {
    try (FaultyHost faulty = new FaultyHost("fault=eq-no-wrap")) {
      Host.Eq eq = events(faulty, 2);
      for (int i = 0; i < 10; i++) {
        faulty.write(0, 64);
        assertThat(eq.take()).as("event %d", i).hasSize(i < 4 ? 1 : 0);
        faulty.host.arm(faulty.qp.cq, false);
        eq.arm(Math.min(i + 1, 4));
      }
    }
  }
}
