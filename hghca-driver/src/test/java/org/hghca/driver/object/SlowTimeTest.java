package org.hghca.driver.object;

import static org.assertj.core.api.Assertions.assertThat;

import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.Completions;
import org.hghca.verbs.ConnectionOptions;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.QpEndpoint;
import org.hghca.verbs.QpType;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.WcStatus;
import org.junit.jupiter.api.Test;

/** The driver's time-outs are longer by the same factor as the card is slower. */
class SlowTimeTest {
  /** A queue pair that does not exist: there is no answer. */
  private static final int NOBODY = 900;

  private static final int SLOW = 20;

  /** 4.096 us x 2^12, once. */
  private static final long RETRY_NANOS = 4096L << 12;

  @Test
  void unansweredSendTimesOutInTheCardsTime() {
    try (DriverFixture it = new DriverFixture("&profile=r1&slow=" + SLOW);
        MemoryRegion memory = it.pd.allocate(4096, AccessFlag.LOCAL_WRITE)) {
      ConnectionOptions options = ConnectionOptions.DEFAULT;
      it.qp.modify(options.toInit(QpType.RC));
      it.qp.modify(
          options.toRtr(QpType.RC, new QpEndpoint(0, NOBODY, 7, it.context.queryGid(1, 0))));
      it.qp.modify(options.toRts(QpType.RC, 7).timeout(12).retryCount(0));
      long start = System.nanoTime();
      it.qp.postSend(new SendRequest().send().sge(memory, 0, 64).signaled());
      Completions found = new Completions(1);
      while (it.cq.poll(found) == 0) {
        Thread.yield();
      }

      assertThat(found.status(0)).isEqualTo(WcStatus.RETRY_EXC_ERR);
      assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(SLOW * RETRY_NANOS);
    }
  }
}
