package org.hghca.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import org.hghca.abi.QueuePairContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Faults of the data path. */
class PayloadFaultsTest {
  private static final String NINE = "000102030405060708";

  @ParameterizedTest
  @CsvSource({
    "no-interrupt, 000102030405060708, cc",
    "payload-stuck-bit, 00090203040d060708, cc",
    "payload-truncated, 0001020304cccccccc, cc",
    "payload-shifted, 080001020304050607, cc",
    "payload-words-swapped, 040506070001020308, cc",
    "payload-halves-swapped, 020300010607040508, cc",
    "payload-zeros, 000000000000000000, cc",
    "payload-ones, ffffffffffffffffff, cc",
    "payload-lost, cccccccccccccccccc, cc",
    "payload-outside, 000102030405060708, 5a"
  })
  void payloadArrivesChangedAndCompletes(String fault, String expected, String behind) {
    try (FaultyHost faulty = new FaultyHost("fault=" + fault).bringUp()) {
      MemorySegment sent = MemorySegment.ofArray(HexFormat.of().parseHex(NINE));
      faulty.source.memory().asSlice(16, 9).copyFrom(sent);
      faulty.target.memory().fill((byte) 0xcc);
      byte[] arrived = faulty.written(16, 9);
      assertThat(HexFormat.of().formatHex(arrived)).isEqualTo(expected);
      assertThat(HexFormat.of().formatHex(faulty.target(25, 8))).isEqualTo(behind.repeat(8));
      assertThat(HexFormat.of().formatHex(faulty.target(33, 8))).isEqualTo("cc".repeat(8));
      assertThat(faulty.qp.cq.take().bytes()).isEqualTo(9);
    }
  }

  @Test
  void latePayloadComesBehindItsCompletion() {
    try (FaultyHost faulty = new FaultyHost("fault=payload-late").bringUp()) {
      byte[] before = faulty.written(0, 100);
      assertThat(faulty.isCompleted()).isTrue();
      assertThat(before).containsOnly(0);
      faulty.advance(Duration.ofMillis(4));
      assertThat(faulty.target(0, 100)).containsOnly(0);
      faulty.advance(Duration.ofMillis(2));
      assertThat(faulty.target(0, 100)).isEqualTo(FaultyHost.expected(0, 100));
    }
  }

  @Test
  void oldPayloadIsThatOfTheMessageBefore() {
    try (FaultyHost faulty = new FaultyHost("fault=payload-old").bringUp()) {
      faulty.write(0, 100);
      assertThat(faulty.written(1000, 100)).isEqualTo(FaultyHost.expected(0, 100));
      assertThat(faulty.written(2000, 100)).isEqualTo(FaultyHost.expected(1000, 100));
    }
  }

  @Test
  void secondPageGoesToTheFirst() {
    try (FaultyHost faulty = new FaultyHost("fault=wrong-page").bringUp()) {
      assertThat(faulty.written(0, 100)).isEqualTo(FaultyHost.expected(0, 100));
      assertThat(faulty.written(8192, 100)).isEqualTo(FaultyHost.expected(8192, 100));
      assertThat(faulty.written(4096 + 200, 100)).containsOnly(0);
      assertThat(faulty.target(200, 100)).isEqualTo(FaultyHost.expected(4096 + 200, 100));
    }
  }

  @Test
  void oneWriteOf23HasAFlippedBit() {
    try (FaultyHost faulty = new FaultyHost("fault=rare-flip").bringUp()) {
      for (int i = 1; i <= 50; i++) {
        byte[] expected = FaultyHost.expected(i, 100);
        if (i % 23 == 0) {
          expected[50] ^= 4;
        }
        assertThat(faulty.written(i, 100)).as("message %d", i).isEqualTo(expected);
        faulty.qp.cq.take();
      }
    }
  }

  @Test
  void deafCardSendsAndReceivesNothing() {
    try (FaultyHost faulty = new FaultyHost("fault=deaf-receiver").bringUp()) {
      assertThat(faulty.written(0, 100)).containsOnly(0);
      assertThat(faulty.isCompleted()).isFalse();
      assertThat(faulty.host.hca().counters().packetsSent()).isPositive();
      assertThat(faulty.host.hca().counters().packetsReceived()).isZero();
    }
  }

  @Test
  void slowSendBeginsTwentyMillisecondsLater() {
    try (FaultyHost faulty = new FaultyHost("fault=slow-completion").bringUp()) {
      faulty.write(0, 100);
      faulty.advance(Duration.ofMillis(19));
      assertThat(faulty.isCompleted()).isFalse();
      faulty.advance(Duration.ofMillis(2));
      assertThat(faulty.isCompleted()).isTrue();
      assertThat(faulty.target(0, 100)).isEqualTo(FaultyHost.expected(0, 100));
    }
  }

  /** With the simulation's own thread, which must wake for it. */
  @ParameterizedTest
  @ValueSource(strings = {"slow-completion", "second-message-lost"})
  void delayedSendEndsInRealTime(String fault) {
    try (Host host = Host.open("model:threaded?fault=" + fault).bringUp()) {
      Loopback loop = new Loopback(host);
      loop.write();
      assertThat(Waits.await(loop.qp.cq).failed()).isFalse();
    }
  }

  /** Rings, contexts and mailboxes are no payload: all else works with any change of payload. */
  @ParameterizedTest
  @ValueSource(strings = {"payload-zeros", "payload-ones", "payload-shifted"})
  void onlyPayloadIsChanged(String fault) {
    try (FaultyHost faulty = new FaultyHost("fault=" + fault).bringUp()) {
      for (int i = 0; i < 200; i++) {
        faulty.write(0, 2000);
        assertThat(faulty.qp.cq.take().failed()).isFalse();
      }
      assertThat(faulty.qp.query().get(QueuePairContext.LOCAL_QPN)).isEqualTo(faulty.qp.number);
      assertThat(Arrays.equals(faulty.target(0, 2000), FaultyHost.expected(0, 2000))).isFalse();
    }
  }
}
