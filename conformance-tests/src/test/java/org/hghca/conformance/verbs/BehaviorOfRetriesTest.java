package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.hghca.conformance.profile.Feature;
import org.hghca.conformance.profile.Needs;
import org.hghca.conformance.table.Tier;
import org.hghca.conformance.table.VerbsCase;
import org.hghca.verbs.QpState;
import org.hghca.verbs.WcStatus;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** How often and how long a requester retries, to the microsecond of virtual time. */
class BehaviorOfRetriesTest {
  /** 12 stands for 0.64 ms. */
  private static final int RNR_TIMER = 12;

  private static final Duration RNR_WAIT = Duration.ofNanos(640_000);
  private static final Duration STEP = Duration.ofNanos(1_000);

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
      tier = Tier.CONTRACT,
      source = VerbsCase.CONTRACT,
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
      tier = Tier.CONTRACT,
      source = VerbsCase.CONTRACT,
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
