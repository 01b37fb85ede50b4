package org.hghca.conformance.interop;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.function.Function;
import org.hghca.conformance.interop.Pair.Asker;
import org.hghca.verbs.DeviceFeature;
import org.hghca.verbs.Mtu;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QpType;
import org.hghca.verbs.WcStatus;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

@WithEachCard
@DisplayName("RC")
class FaultTest {
  private static final int BYTES = 1 << 17;

  /** 4.096 us x 2^14, 67 ms. */
  private static final int SHORT_TIMEOUT = 14;

  private Bench bench;

  @BeforeEach
  void take(Bench itsBench) {
    bench = itsBench;
  }

  private static Result one(End end) {
    List<Result> results = end.poll(1);
    assertThat(results).hasSize(1);
    return results.getFirst();
  }

  @ParameterizedTest(name = "a receive that is posted late: RNR NAK, then success, {0}")
  @EnumSource(Asker.class)
  void latePostedReceiveSucceedsAfterRnrNaks(Asker asker) {
    try (Pair pair = Pair.connect(bench, QpType.RC, Mtu.MTU_1024, BYTES)) {
      End from = pair.end(asker);
      End to = pair.other(asker);
      from.fill(0, 5000, 3);
      from.send(Work.send(1, 0, 5000));
      from.send(Work.send(2, 0, 1));
      assertThat(from.poll(1, 1)).as("nothing completes before").isEmpty();
      to.receive(1, 0, BYTES);
      to.receive(2, 0, BYTES);
      assertThat(one(to).bytes()).isEqualTo(5000);
      assertThat(one(to).bytes()).isEqualTo(1);
      assertThat(to.differs(0, 5000, 3)).isEqualTo(-1);
      assertThat(from.poll(2)).extracting(Result::status).containsOnly(WcStatus.SUCCESS).hasSize(2);
    }
  }

  @ParameterizedTest(name = "a receive that is never posted: RNR retries are exceeded, {0}")
  @EnumSource(Asker.class)
  void missingReceiveExceedsTheRnrRetries(Asker asker) {
    try (Pair pair = Pair.connect(bench, QpType.RC, BYTES, options -> options.withRnrRetry(3))) {
      End from = pair.end(asker);
      from.send(Work.send(1, 0, 10));
      assertThat(one(from).status()).isEqualTo(WcStatus.RNR_RETRY_EXC_ERR);
      assertThat(from.state()).isEqualTo(QpState.ERR);
    }
  }

  /** Invalid requests to the other end. */
  enum Wrong {
    WRITE_KEY(
        "WRITE by a wrong rkey",
        WcStatus.REM_ACCESS_ERR,
        to -> Work.write(1, 0, 5000, to.address(), to.rkey() + 1)),
    WRITE_RANGE(
        "WRITE beyond the region",
        WcStatus.REM_ACCESS_ERR,
        to -> Work.write(1, 0, 5000, to.address() + BYTES - 4999, to.rkey())),
    READ_KEY(
        "READ by a wrong rkey",
        WcStatus.REM_ACCESS_ERR,
        to -> Work.read(1, 0, 5000, to.address(), to.rkey() + 1)),
    READ_RANGE(
        "READ beyond the region",
        WcStatus.REM_ACCESS_ERR,
        to -> Work.read(1, 0, 5000, to.address() + BYTES - 4999, to.rkey())),
    ATOMIC_KEY(
        "fetch and add by a wrong rkey",
        WcStatus.REM_ACCESS_ERR,
        to -> Work.fetchAndAdd(1, 0, to.address(), to.rkey() + 1, 1)),
    ATOMIC_ADDRESS(
        "fetch and add at an odd address",
        WcStatus.REM_INV_REQ_ERR,
        to -> Work.fetchAndAdd(1, 0, to.address() + 1, to.rkey(), 1)),
    /**
     * An invalid request by the InfiniBand specification, and at our responder; soft RoCE answers
     * with a remote operational error, and reports a local QP operation error to its own program.
     */
    SEND_LENGTH(
        "SEND longer than the receive",
        WcStatus.REM_INV_REQ_ERR,
        to -> {
          to.receive(9, 0, 4999);
          return Work.send(1, 0, 5000);
        });

    private final String text;
    private final WcStatus status;

    /** Prepares the other end, and returns the request. */
    private final Function<End, Work> work;

    Wrong(String text, WcStatus status, Function<End, Work> work) {
      this.text = text;
      this.status = status;
      this.work = work;
    }

    @Override
    public String toString() {
      return text;
    }
  }

  @ParameterizedTest(name = "our requests: {0}")
  @EnumSource(Wrong.class)
  void ourInvalidRequestFails(Wrong wrong) {
    refused(wrong, Asker.WE);
  }

  /** The guest's library refuses an odd address itself. */
  @ParameterizedTest(name = "the guest''s requests: {0}")
  @EnumSource(mode = Mode.EXCLUDE, names = "ATOMIC_ADDRESS")
  void guestsInvalidRequestFails(Wrong wrong) {
    refused(wrong, Asker.GUEST);
  }

  private void refused(Wrong wrong, Asker asker) {
    if (wrong == Wrong.ATOMIC_KEY || wrong == Wrong.ATOMIC_ADDRESS) {
      bench.assume(DeviceFeature.ATOMICS);
    }
    try (Pair pair = Pair.connect(bench, QpType.RC, Mtu.MTU_1024, BYTES)) {
      End from = pair.end(asker);
      End to = pair.other(asker);
      from.send(wrong.work.apply(to));
      from.send(Work.send(2, 0, 1));
      boolean softRoceDiffers = wrong == Wrong.SEND_LENGTH && asker == Asker.WE;
      assertThat(one(from).status())
          .isEqualTo(softRoceDiffers ? WcStatus.REM_OP_ERR : wrong.status);
      assertThat(one(from).status()).isEqualTo(WcStatus.WR_FLUSH_ERR);
      assertThat(from.state()).isEqualTo(QpState.ERR);
      assertThat(to.state()).isEqualTo(QpState.ERR);
      if (wrong == Wrong.SEND_LENGTH) {
        assertThat(one(to).status())
            .isEqualTo(softRoceDiffers ? WcStatus.LOC_QP_OP_ERR : WcStatus.LOC_LEN_ERR);
      }
    }
  }

  @ParameterizedTest(name = "the other queue pair is destroyed under traffic, {0}")
  @EnumSource(Asker.class)
  void queuePairDestroyedUnderTrafficFailsThePeer(Asker asker) {
    try (Pair pair =
        Pair.connect(
            bench,
            QpType.RC,
            BYTES,
            options -> options.withTimeout(SHORT_TIMEOUT).withRetryCount(3))) {
      End from = pair.end(asker);
      End to = pair.other(asker);
      for (int i = 0; i < 58; i++) {
        from.send(Work.write(i, 0, BYTES, to.address(), to.rkey()));
      }
      assertThat(one(from).status()).isEqualTo(WcStatus.SUCCESS);
      to.destroy();
      // The others may be complete by now.
      from.send(Work.write(58, 0, BYTES, to.address(), to.rkey()));
      from.send(Work.write(59, 0, BYTES, to.address(), to.rkey()));
      List<Result> rest = from.poll(59);
      assertThat(rest).hasSize(59);
      assertThat(rest).extracting(Result::status).contains(WcStatus.RETRY_EXC_ERR);
      assertThat(rest.getLast().status()).isEqualTo(WcStatus.WR_FLUSH_ERR);
      assertThat(from.state()).isEqualTo(QpState.ERR);
    }
    try (Pair next = Pair.connect(bench, QpType.RC, Mtu.MTU_1024, BYTES)) {
      End from = next.end(asker);
      End to = next.other(asker);
      from.fill(0, BYTES, 4);
      from.send(Work.write(1, 0, BYTES, to.address(), to.rkey()));
      assertThat(one(from).status()).isEqualTo(WcStatus.SUCCESS);
      assertThat(to.differs(0, BYTES, 4)).isEqualTo(-1);
    }
  }

  @ParameterizedTest(name = "16 READs outstanding, {0}")
  @EnumSource(Asker.class)
  void sixteenOutstandingReadsComplete(Asker asker) {
    try (Pair pair = Pair.connect(bench, QpType.RC, BYTES, options -> options.withReadAtomic(16))) {
      End from = pair.end(asker);
      End to = pair.other(asker);
      to.fill(0, BYTES, 5);
      for (int i = 0; i < 40; i++) {
        from.send(Work.read(i, 3001L * i, 3000, to.address() + 251L * 5 * i, to.rkey()));
      }
      List<Result> results = from.poll(40);
      assertThat(results).hasSize(40);
      for (int i = 0; i < 40; i++) {
        assertThat(results.get(i).status()).isEqualTo(WcStatus.SUCCESS);
        assertThat(results.get(i).wr()).isEqualTo(i);
        assertThat(from.differs(3001L * i, 3000, 5)).as("READ %d", i).isEqualTo(-1);
      }
    }
  }
}
