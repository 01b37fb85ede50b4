package org.hghca.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.hghca.abi.EventQueueContext;
import org.hghca.abi.EventType;
import org.hghca.abi.QpcServiceType;
import org.hghca.abi.QueuePairContext;
import org.hghca.vfio.DmaAccess;
import org.hghca.vfio.VfioException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The mode in which a thread runs the simulation. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ThreadedTest {

  @Test
  void messagesArriveAndTheThreadEndsWithTheLastHca() throws InterruptedException {
    Thread loop;
    try (Host left = Host.open("model:tl?cable=t").bringUp();
        Host right = Host.open("model:tr?cable=t").bringUp()) {
      Host.Qp a = left.qp();
      Host.Qp b = right.qp();
      Host.connect(left, a, right, b);
      Host.Buffer source = left.buffer(65536, Host.LOCAL);
      Host.Buffer target = right.buffer(65536, Host.ALL);
      int outstanding = 0;
      int rung = 0;
      for (int done = 0; done < 20_000; ) {
        while (rung < 20_000 && outstanding < 8) {
          source.memory().set(ValueLayout.JAVA_INT, 4L * (rung & 7), rung);
          int at = 4 * (rung & 7);
          a.write(target, at, new Host.Piece(source, at, 4));
          rung++;
          outstanding++;
        }
        if (a.cq.hasNext()) {
          assertThat(a.cq.take().failed()).isFalse();
          done++;
          outstanding--;
        } else {
          Thread.onSpinWait();
        }
      }
      for (int i = 0; i < 8; i++) {
        assertThat(target.memory().get(ValueLayout.JAVA_INT, 4L * i)).isEqualTo(19_992 + i);
      }
      assertThat(left.hca().faults()).isEmpty();
      loop = loop();
      assertThat(loop.isDaemon()).isTrue();
    }
    loop.join(TimeUnit.SECONDS.toMillis(30));
    assertThat(loop.isAlive()).isFalse();
  }

  @Test
  void timersUseTheSystemsClock() {
    try (Host left = Host.open("model:timer?cable=alone").bringUp()) {
      Host.Qp a = left.qp();
      a.context.set(QueuePairContext.ACK_TIMEOUT, 1).set(QueuePairContext.RETRY_COUNT, 1);
      a.peer(left, a);
      a.context.destinationMac(0x0200_dead_beefL);
      a.toRts();
      Host.Buffer buffer = left.buffer(4096, Host.ALL);
      a.write(buffer, 0, new Host.Piece(buffer, 0, 8));
      while (!a.cq.hasNext()) {
        Thread.onSpinWait();
      }
      assertThat(a.cq.take().word()).isEqualTo(0x15);
    }
  }

  @Test
  void waitForAnInterruptEndsWithTheCompletion() {
    try (Host host = Host.open("model:interrupts").bringUp()) {
      Host.Eq eq = host.eq(4, 3, EventQueueContext.ARMED);
      Host.Qp qp = host.qp(host.cq(6, 0, 4));
      qp.peer(host, qp);
      qp.toRts();
      Host.Buffer buffer = host.buffer(4096, Host.ALL);
      for (int i = 0; i < 100; i++) {
        host.arm(qp.cq, false);
        qp.write(buffer, 0, new Host.Piece(buffer, 8, 8));
        assertThat(host.function.interrupts().await(TimeUnit.SECONDS.toNanos(30)))
            .isEqualTo(1L << 4);
        assertThat(eq.take()).containsExactly(new Host.Event(0, 0, qp.cq.number));
        eq.arm();
        assertThat(qp.cq.take().failed()).isFalse();
      }
    }
  }

  @Test
  void portThatGoesDownIsReportedWithoutARegisterWrite() {
    try (Host left = Host.open("model:pl?cable=p").bringUp()) {
      left.eq(4, 3, EventQueueContext.ARMED);
      left.mapEvents(4, false, EventType.PORT_CHANGE);
      Host.open("model:pr?cable=p").close();
      assertThat(left.function.interrupts().await(TimeUnit.SECONDS.toNanos(30))).isEqualTo(1L << 4);
    }
  }

  @Test
  void packetsDelayedByACableArriveWhenItIsPerfectAgain() {
    try (Host left = Host.open("model:hl?cable=h").bringUp();
        Host right = Host.open("model:hr?cable=h").bringUp()) {
      Host.Qp a = left.qp();
      Host.Qp b = right.qp();
      // This service expects no answer, so that no timer wakes the thread.
      a.context.set(QueuePairContext.SERVICE_TYPE, QpcServiceType.UC);
      b.context.set(QueuePairContext.SERVICE_TYPE, QpcServiceType.UC);
      Host.connect(left, a, right, b);
      Host.Buffer source = left.buffer(4096, Host.LOCAL);
      Host.Buffer target = right.buffer(4096, Host.ALL);
      Cable cable = left.hca().cable().orElseThrow();
      Disturbance late = Disturbance.NONE.withDelay(1, Duration.ofDays(1));
      for (int i = 1; i <= 300; i++) {
        cable.disturbFrom(left.hca(), late.withSeed(i));
        a.write(target, 0, new Host.Piece(source, 0, 8));
        while (cable.counters().delayed() < i) {
          Thread.onSpinWait();
        }
        long asleep = System.nanoTime() + 500L * i;
        while (System.nanoTime() < asleep) {
          Thread.onSpinWait(); // the thread is about to sleep, or sleeps
        }
        cable.disturb(Disturbance.NONE);
        while (right.hca().counters().packetsReceived() < i) {
          Thread.onSpinWait();
        }
        assertThat(a.cq.take().failed()).isFalse();
      }
    }
  }

  @Test
  void virtualTimeCannotBeAdvanced() {
    try (Host host = Host.open("model:clock")) {
      Simulation simulation = host.hca().simulation();
      assertThat(simulation.isInline()).isFalse();
      assertThatThrownBy(() -> simulation.advance(Duration.ofSeconds(1)))
          .isInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void confinedMemoryIsForInlineHcasOnly() {
    try (Arena arena = Arena.ofConfined();
        Host threaded = Host.open("model:confined");
        Host inline = Host.open("model:confined?mode=inline")) {
      var memory = arena.allocate(4096, 4096);
      assertThatThrownBy(() -> threaded.function.map(memory, DmaAccess.READ_WRITE))
          .isInstanceOf(VfioException.class);
      inline.function.map(memory, DmaAccess.READ_WRITE).close();
    }
  }

  @Test
  void anHcaThatSpinsKeepsTheThreadAwakeUntilItIsClosed() {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    try (Host _ = Host.open("model:idle")) {
      Thread loop = loop();
      try (Host _ = Host.open("model:spinning?spin=on")) {
        long start = threads.getThreadCpuTime(loop.threadId());
        while (threads.getThreadCpuTime(loop.threadId()) - start
            < TimeUnit.MILLISECONDS.toNanos(200)) {
          Thread.yield();
        }
      }
      while (loop.getState() != Thread.State.WAITING) {
        Thread.yield();
      }
    }
  }

  private static Thread loop() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().equals("hghca-model"))
        .findFirst()
        .orElseThrow();
  }
}
