package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import org.hghca.conformance.profile.Feature;
import org.hghca.conformance.profile.Needs;
import org.hghca.conformance.profile.TestProfile;
import org.hghca.conformance.table.VerbsCase;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.WcStatus;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Peers that are not ready, and peers that do not answer, in virtual time. */
class RetryTest {
  /** 12 stands for 0.64 ms. */
  private static final int RNR_TIMER = 12;

  private static final Duration RNR_WAIT = Duration.ofNanos(640_000);
  private static final Duration STEP = Duration.ofNanos(1_000);

  /** How long a peer is silent at least, over a network, before a retry count of 7 ends. */
  private static final Duration SILENCE = Duration.ofSeconds(2);

  private static SendRequest send(RcPair pair, long wrId) {
    return pair.left.send.wrId(wrId).send().sge(pair.left.buffer, 0, 8).signaled();
  }

  private static RcPair pair(int rnrRetry, int timeout, int retryCount) {
    return new RcSetup().retries(RNR_TIMER, rnrRetry, timeout, retryCount).on(Fabric.inline());
  }

  /** Advances until a completion arrives; returns it and the time that passed. */
  private record Timed(Wc completion, Duration time) {
    static Timed await(RcPair pair, Duration step) {
      Duration start = pair.fabric.now();
      for (int i = 0; i < 100_000; i++) {
        var found = Wc.drain(pair.left.sendQueue);
        if (!found.isEmpty()) {
          return new Timed(found.getFirst(), pair.fabric.now().minus(start));
        }
        pair.fabric.advance(step);
      }
      throw new AssertionError("no completion after " + pair.fabric.now().minus(start));
    }
  }

  /** The encoding of the RNR NAK timer field, InfiniBand specification: each code, in us. */
  @ParameterizedTest
  @CsvSource({
    "0, 655360",
    "1, 10",
    "2, 20",
    "3, 30",
    "4, 40",
    "5, 60",
    "6, 80",
    "7, 120",
    "8, 160",
    "9, 240",
    "10, 320",
    "11, 480",
    "12, 640",
    "13, 960",
    "14, 1280",
    "15, 1920",
    "16, 2560",
    "17, 3840",
    "18, 5120",
    "19, 7680",
    "20, 10240",
    "21, 15360",
    "22, 20480",
    "23, 30720",
    "24, 40960",
    "25, 61440",
    "26, 81920",
    "27, 122880",
    "28, 163840",
    "29, 245760",
    "30, 327680",
    "31, 491520"
  })
  @Needs(Feature.RNR_RETRY)
  void theReceiversTimerSaysHowLongToWait(int code, long micros) {
    try (RcPair pair = new RcSetup().retries(code, 1, 14, 7).on(Fabric.inline())) {
      pair.left.qp.postSend(send(pair, 3));
      // Messages take no virtual time: the time that passes is one wait and the second RNR NAK.
      pair.fabric.advance(Duration.ofNanos(micros * 1000 - 1));
      assertThat(Wc.drain(pair.left.sendQueue)).isEmpty();
      pair.fabric.advance(Duration.ofNanos(1));
      assertThat(pair.left.sent().status()).isEqualTo(WcStatus.RNR_RETRY_EXC_ERR);
    }
  }

  @Test
  @VerbsCase(says = "7 RNR retries are unlimited")
  @Needs(Feature.RNR_RETRY)
  void sevenRnrRetriesAreUnlimited() {
    try (RcPair pair = pair(7, 14, 7)) {
      pair.left.randomize(0, 8, new SplittableRandom(1));
      pair.left.qp.postSend(send(pair, 3));
      pair.fabric.advance(Duration.ofSeconds(10));
      assertThat(Wc.drain(pair.left.sendQueue)).isEmpty();
      pair.right.postReceive(4, 16, 8);
      Side.assertSuccess(pair.left.sent());
      assertThat(pair.right.received().wrId()).isEqualTo(4);
      pair.right.expect(16, pair.left, 0, 8);
      pair.right.verify("a message that waited");
    }
  }

  @Test
  @Needs(Feature.RNR_RETRY)
  void receiverThatBecomesReadyInTimeGetsEverythingInOrder() {
    SplittableRandom random = new SplittableRandom(2);
    try (RcPair pair = pair(3, 14, 7)) {
      for (int i = 0; i < 10; i++) {
        pair.left.randomize(8L * i, 8, random);
        pair.left.qp.postSend(
            new SendRequest().wrId(i).send().sge(pair.left.buffer, 8L * i, 8).signaled());
      }
      for (int i = 0; i < 10; i++) {
        // Late each time, and more often than the retry count: each success restores all retries.
        pair.fabric.advance(RNR_WAIT);
        pair.right.postReceive(100 + i, 1024 + 8 * i, 8);
        pair.right.expect(1024 + 8L * i, pair.left, 8L * i, 8);
        Wc sent = pair.left.sent();
        Side.assertSuccess(sent);
        assertThat(sent.wrId()).isEqualTo(i);
        assertThat(pair.right.received().wrId()).isEqualTo(100 + i);
      }
      pair.right.verify("ten messages that waited");
    }
  }

  @Test
  @Needs(Feature.RNR_RETRY)
  void writeWithImmediateWaitsForAReceive() {
    try (RcPair pair = pair(7, 14, 7)) {
      pair.left.randomize(0, 3000, new SplittableRandom(3));
      pair.left.qp.postSend(
          pair.left
              .send
              .rdmaWriteWithImmediate(pair.right.address(7), pair.right.buffer.rkey(), 42)
              .sge(pair.left.buffer, 0, 3000)
              .signaled());
      pair.fabric.advance(Duration.ofMillis(50));
      assertThat(Wc.drain(pair.left.sendQueue)).isEmpty();
      pair.right.qp.postReceive(pair.right.receive.wrId(1).empty());
      Side.assertSuccess(pair.left.sent());
      assertThat(pair.right.received().immediate()).isEqualTo(42);
      pair.right.expect(7, pair.left, 0, 3000);
      pair.right.verify("RDMA WRITE with immediate that waited");
    }
  }

  @ParameterizedTest
  @CsvSource({"8, 0", "8, 1", "8, 7", "10, 3", "14, 7"})
  @Needs(Feature.LOSS_RECOVERY)
  void silentPeerExhaustsTheRetries(int timeout, int retryCount) {
    Duration wait = Duration.ofNanos(4096L << timeout);
    try (RcPair pair = pair(7, timeout, retryCount)) {
      pair.right.qp.close();
      pair.left.qp.postSend(send(pair, 3));
      Timed timed = Timed.await(pair, wait.dividedBy(8));
      assertThat(timed.completion().status()).isEqualTo(WcStatus.RETRY_EXC_ERR);
      // At least 4.096 us * 2^timeout each time, and at most four times that; over a network a
      // count
      // of 7 lasts for 2 s of silence.
      Duration silence = retryCount == 7 ? SILENCE : Duration.ZERO;
      assertThat(timed.time())
          .isGreaterThanOrEqualTo(wait.multipliedBy(retryCount))
          .isLessThanOrEqualTo(wait.multipliedBy(4L * (retryCount + 1)).plus(silence));
      assertThat(pair.left.qp.query().state()).isEqualTo(QpState.ERR);
    }
  }

  @Test
  void peerInErrExhaustsTheRetries() {
    try (RcPair pair = pair(7, 8, 2)) {
      pair.right.qp.modify(QpAttributes.to(QpState.ERR));
      pair.left.qp.postSend(send(pair, 1));
      pair.left.qp.postSend(send(pair, 2));
      WcStatus first = Wc.cause(WcStatus.RETRY_EXC_ERR);
      if (!TestProfile.has(Feature.REMOTE_PROTECTION)) {
        pair.fabric.mayRetire(); // a peer in ERR does not answer
        first = WcStatus.RETRY_EXC_ERR;
      }
      assertThat(pair.left.sent(2))
          .extracting(Wc::status)
          .containsExactly(first, WcStatus.WR_FLUSH_ERR);
    }
  }

  @Test
  @VerbsCase(says = "a timeout of 0 waits indefinitely")
  @Needs(Feature.LOSS_RECOVERY)
  void timeoutOfZeroWaitsIndefinitely() {
    try (RcPair pair = pair(7, 0, 7)) {
      pair.right.qp.modify(QpAttributes.to(QpState.ERR));
      pair.left.qp.postSend(send(pair, 1));
      pair.fabric.advance(Duration.ofHours(1));
      assertThat(Wc.drain(pair.left.sendQueue)).isEmpty();
      pair.left.qp.modify(QpAttributes.to(QpState.ERR));
      assertThat(pair.left.sent().status()).isEqualTo(WcStatus.WR_FLUSH_ERR);
    }
  }

  @Test
  @Needs(Feature.REFUSED_READS)
  void readFromASilentPeerFails() {
    try (RcPair pair = pair(7, 8, 2)) {
      pair.right.qp.modify(QpAttributes.to(QpState.ERR));
      pair.left.qp.postSend(pair.read(0).sge(pair.left.buffer, 0, 8));
      assertThat(pair.left.sent().status()).isEqualTo(WcStatus.RETRY_EXC_ERR);
      pair.left.verify("nothing read");
    }
  }

  /** A SEND fails, after a time and not earlier. */
  private static void assertFailsAfter(RcPair pair, Duration time, WcStatus status) {
    Side left = pair.left;
    left.qp.postSend(left.send.wrId(3).send().sge(left.buffer, 0, 8).signaled());
    if (!time.isZero()) {
      pair.fabric.advance(time.minus(STEP));
      assertThat(Wc.drain(left.sendQueue)).isEmpty();
    }
    pair.fabric.advance(STEP);
    List<Wc> found = Wc.drain(left.sendQueue);
    assertThat(found).hasSize(1);
    assertThat(found.getFirst().status()).isEqualTo(status);
    assertThat(found.getFirst().wrId()).isEqualTo(3);
    assertThat(left.qp.query().state()).isEqualTo(QpState.ERR);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 3, 6})
  @VerbsCase(
      says = "no receive at the peer: RNR_RETRY_EXC_ERR after rnr_retry waits of the peer's timer")
  @Needs(Feature.RNR_RETRY)
  void peerThatIsNeverReady(int rnrRetry) {
    try (RcPair pair = new RcSetup().retries(RNR_TIMER, rnrRetry, 14, 7).on(Fabric.inline())) {
      assertFailsAfter(pair, RNR_WAIT.multipliedBy(rnrRetry), WcStatus.RNR_RETRY_EXC_ERR);
      assertThat(pair.right.qp.query().state()).isEqualTo(QpState.RTS);
    }
  }

  @ParameterizedTest
  @CsvSource({"8, 0", "8, 1", "8, 7", "10, 3", "14, 7", "18, 2"})
  @VerbsCase(
      says = "the peer does not answer: RETRY_EXC_ERR after 4.096 us * 2^timeout * (retry_cnt + 1)")
  @Needs(Feature.LOSS_RECOVERY)
  void peerThatDoesNotAnswer(int timeout, int retryCount) {
    try (RcPair pair = new RcSetup().retries(12, 7, timeout, retryCount).on(Fabric.inline())) {
      pair.right.qp.close();
      Duration wait = Duration.ofNanos(4096L << timeout);
      assertFailsAfter(pair, wait.multipliedBy(retryCount + 1L), WcStatus.RETRY_EXC_ERR);
    }
  }
}
