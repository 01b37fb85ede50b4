package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import org.hghca.conformance.profile.OnlyOn;
import org.hghca.conformance.profile.TestProfile;
import org.hghca.model.HcaCounters;
import org.hghca.model.ModelProvider;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.Completions;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.WcStatus;
import org.hghca.vfio.Locator;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A reliable connection over the kernel's UDP on which packets are lost, duplicated and reordered:
 * each message arrives once and in order. By default some thousand; with {@code -Dhghca.soak=PT10M}
 * a million.
 */
@OnlyOn(value = "s", why = "the packets of the RTL are not RoCE's")
@Timeout(3600)
class DisturbedNetworkTest {
  private static final boolean SOAK =
      Duration.parse(System.getProperty("hghca.soak", "PT0S")).isPositive();
  private static final int MESSAGES = SOAK ? 1_000_000 : 4_000;
  private static final String DISTURBANCE = "&drop=0.01&duplicate=0.01&reorder=0.02&seed=";
  private static final String LEFT = "model:bad-left?net=udp:127.0.6.31" + DISTURBANCE + 1;
  private static final String RIGHT = "model:bad-right?net=udp:127.0.6.32" + DISTURBANCE + 2;
  private static final int DEPTH = 32;
  private static final int SLOT = 16_384;

  /** Each fourth message is an atomic on a counter behind the slots. */
  private static final int COUNTER = DEPTH * SLOT;

  private final Completions found = new Completions(DEPTH);
  private final SendRequest send = new SendRequest();
  private final ReceiveRequest receive = new ReceiveRequest();

  @BeforeEach
  void ownDevices() {
    TestProfile.requireModel();
  }

  /** Up to four packets, of 4 KiB and the rest. */
  private static int length(int message) {
    return Long.BYTES + message * 37 % (SLOT - Long.BYTES);
  }

  private static boolean isAtomic(int message) {
    return message % 4 == 3;
  }

  /**
   * A connection.
   *
   * @param timeout exponent of the time without an answer
   */
  private static RcPair connect(int timeout) {
    return new RcSetup()
        .depth(DEPTH)
        .bufferSize(COUNTER + SLOT)
        .bufferAccess(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_ATOMIC)
        .qpAccess(AccessFlag.REMOTE_ATOMIC)
        .retries(1, 7, timeout, 7) // 10 us, without end
        .on(Fabric.on(LEFT, RIGHT));
  }

  /** Losses that no other packet shows are found by round trips. */
  @Test
  void lossesDoNotWaitForTheTimeout() {
    try (RcPair pair = connect(22)) { // 17 s
      run(pair, 4_000);
      // One, where the first packets are lost, before any round trip is known.
      assertThat(counters(LEFT).timeouts()).isLessThanOrEqualTo(1);
      assertThat(counters(LEFT).retries()).isPositive();
    }
  }

  @Test
  void eachMessageArrivesOnceAndInOrder() {
    try (RcPair pair = connect(16)) { // 268 ms
      run(pair, MESSAGES);
      HcaCounters left = counters(LEFT);
      HcaCounters right = counters(RIGHT);
      assertThat(left.retries()).isPositive();
      assertThat(right.naksSent()).isPositive();
      assertThat(right.duplicates()).isPositive();
    }
  }

  private static HcaCounters counters(String locator) {
    return ModelProvider.hca(Locator.parse(locator)).orElseThrow().counters();
  }

  private void run(RcPair pair, int messages) {
    for (int i = 0; i < DEPTH; i++) {
      pair.right.qp.postReceive(receive.wrId(i).into(pair.right.buffer, (long) i * SLOT, SLOT));
    }
    int posted = 0;
    int done = 0;
    int next = 0; // the message that must arrive next
    while (done < messages || next < messages) {
      while (posted < messages && posted - done < DEPTH) {
        post(pair, posted++);
      }
      int count = pair.left.sendQueue.poll(found);
      for (int i = 0; i < count; i++) {
        assertThat(found.status(i)).isEqualTo(WcStatus.SUCCESS);
        int message = done++;
        assertThat(found.wrId(i)).isEqualTo(message);
        if (isAtomic(message)) {
          assertThat(pair.left.memory().get(ValueLayout.JAVA_LONG, at(message)))
              .as("what atomic %d found", message)
              .isEqualTo(message / 4);
        }
      }
      count = pair.right.receiveQueue.poll(found);
      for (int i = 0; i < count; i++) {
        assertThat(found.status(i)).isEqualTo(WcStatus.SUCCESS);
        next += isAtomic(next) ? 1 : 0;
        assertArrived(pair, next++, found.wrId(i), found.byteLength(i));
      }
      next += next == messages - 1 && isAtomic(next) ? 1 : 0;
    }
    MemorySegment memory = pair.right.memory();
    assertThat(memory.get(ValueLayout.JAVA_LONG, COUNTER)).isEqualTo(messages / 4);
  }

  private static long at(int message) {
    return (long) message % DEPTH * SLOT;
  }

  private void post(RcPair pair, int message) {
    long at = at(message);
    if (isAtomic(message)) {
      pair.left.qp.postSend(
          send.fetchAndAdd(pair.right.address(COUNTER), pair.right.buffer.rkey(), 1)
              .sge(pair.left.buffer, at, Long.BYTES)
              .wrId(message)
              .signaled());
      return;
    }
    int length = length(message);
    pair.left.memory().set(ValueLayout.JAVA_LONG, at, message);
    pair.left.memory().set(ValueLayout.JAVA_BYTE, at + length - 1, (byte) message);
    pair.left.qp.postSend(send.send().sge(pair.left.buffer, at, length).wrId(message).signaled());
  }

  private void assertArrived(RcPair pair, int message, long slot, long bytes) {
    MemorySegment memory = pair.right.memory();
    long at = slot * SLOT;
    int length = length(message);
    assertThat(bytes).as("message %d", message).isEqualTo(length);
    if (length >= 2 * Long.BYTES) {
      assertThat(memory.get(ValueLayout.JAVA_LONG, at)).isEqualTo(message);
    }
    assertThat(memory.get(ValueLayout.JAVA_BYTE, at + length - 1)).isEqualTo((byte) message);
    pair.right.qp.postReceive(receive.wrId(slot).into(pair.right.buffer, at, SLOT));
  }
}
