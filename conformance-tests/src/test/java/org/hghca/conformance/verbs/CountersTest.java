package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import org.hghca.conformance.profile.Feature;
import org.hghca.conformance.profile.Needs;
import org.hghca.conformance.profile.TestProfile;
import org.hghca.verbs.Counters;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.WcStatus;
import org.junit.jupiter.api.Test;

/** The activity of a context since it was opened. */
class CountersTest {

  @Test
  @Needs(Feature.RECONNECTION)
  void postedRungAndPolledAreCountedAcrossResetAndClose() {
    try (RcPair pair = RcPair.open()) {
      Counters before = pair.left.context.counters();
      assertThat(before.sendsPosted()).isZero();
      assertThat(before.completions()).isZero();
      SendRequest[] list = new SendRequest[5];
      for (int i = 0; i < list.length; i++) {
        list[i] =
            new SendRequest()
                .rdmaWrite(pair.right.address(0), pair.right.buffer.rkey())
                .sge(pair.left.buffer, 0, 8);
      }
      list[4].signaled();
      pair.left.qp.postSend(list);
      Side.assertSuccess(pair.left.sent());
      list[3].fence();
      pair.left.qp.postSend(list);
      Side.assertSuccess(pair.left.sent());
      pair.left.qp.postSend(list[4]);
      Side.assertSuccess(pair.left.sent());
      Counters c = pair.left.context.counters();
      assertThat(c.sendsPosted()).isEqualTo(11);
      // A list has one doorbell, a fenced request one of its own and so have the requests behind
      // it; but on a card without chains each request has one, and on a virtio device each list.
      assertThat(c.doorbells())
          .isEqualTo(TestProfile.isVirtio() ? 3 : TestProfile.isRtl() ? 11 : 5);
      // A virtio device completes only signaled requests.
      int completions = TestProfile.isVirtio() ? 3 : 11;
      assertThat(c.completions()).isEqualTo(completions);
      assertThat(c.failures()).isZero();

      pair.left.postReceive(1, 0, 8);
      pair.left.qp.modify(QpAttributes.to(QpState.ERR));
      pair.left.postReceive(2, 0, 8);
      assertThat(pair.left.received(2)).hasSize(2);
      pair.left.qp.modify(QpAttributes.to(QpState.RESET));
      pair.left.qp.close();
      c = pair.left.context.counters();
      assertThat(c.sendsPosted()).isEqualTo(11);
      assertThat(c.receivesPosted()).isEqualTo(2);
      assertThat(c.flushed()).isEqualTo(2);
      assertThat(c.failures()).isZero();
      assertThat(c.completions()).isEqualTo(completions + 2);
      assertThat(c.commands()).isGreaterThan(before.commands());
      assertThat(c.dmaFaults()).isZero();
    }
  }

  @Test
  @Needs(Feature.REMOTE_PROTECTION)
  void failuresAreCountedByKind() {
    try (RcPair pair = RcPair.open()) {
      pair.left.qp.postSend(
          pair.left
              .send
              .rdmaWrite(pair.right.address(0), pair.right.buffer.rkey() + 1)
              .sge(pair.left.buffer, 0, 8)
              .signaled());
      pair.left.qp.postSend(pair.left.send);
      assertThat(pair.left.sent(2))
          .extracting(Wc::status)
          .containsExactly(Wc.cause(WcStatus.REM_ACCESS_ERR), WcStatus.WR_FLUSH_ERR);
      Counters c = pair.left.context.counters();
      assertThat(c.failures()).isEqualTo(1);
      assertThat(c.naks()).isEqualTo(TestProfile.pick(Feature.ERROR_CAUSE, 1L, 0L));
      assertThat(c.flushed()).isEqualTo(1);
      assertThat(c.retriesExceeded()).isZero();
    }
    TestProfile.require(Feature.RNR_RETRY, Feature.LOSS_RECOVERY);
    try (RcPair pair = new RcSetup().retries(1, 2, 10, 1).open()) {
      pair.left.qp.postSend(pair.left.send.send().sge(pair.left.buffer, 0, 8).signaled());
      assertThat(pair.left.sent().status()).isEqualTo(WcStatus.RNR_RETRY_EXC_ERR);
      assertThat(pair.left.context.counters().rnrRetriesExceeded()).isEqualTo(1);
    }
    try (RcPair pair = new RcSetup().retries(1, 2, 10, 1).open()) {
      pair.right.qp.modify(QpAttributes.to(QpState.RESET));
      pair.left.qp.postSend(pair.left.send.send().sge(pair.left.buffer, 0, 8).signaled());
      assertThat(pair.left.sent().status()).isEqualTo(WcStatus.RETRY_EXC_ERR);
      assertThat(pair.left.context.counters().retriesExceeded()).isEqualTo(1);
    }
  }

  /** What is posted counts by its kind; what is received when its completion is polled. */
  @Test
  void bytesAreCountedByDirection() {
    try (RcPair pair = new RcSetup().sges(2).inline(64).open()) {
      pair.right.postReceive(1, 0, 4096);
      pair.left.qp.postSend(
          pair.left.send.send().sge(pair.left.buffer, 0, 1000).sge(pair.left.buffer, 0, 24));
      pair.left.qp.postSend(pair.write(0).sge(pair.left.buffer, 0, 40).inline());
      pair.left.qp.postSend(pair.write(0).sge(pair.left.buffer, 0, 300).signaled());
      Side.assertSuccess(pair.left.sent());
      Side.assertSuccess(pair.right.received());
      Counters left = pair.left.context.counters();
      Counters right = pair.right.context.counters();
      assertThat(left.sentBytes()).isEqualTo(1364);
      assertThat(left.readBytes()).isZero();
      assertThat(left.receivedBytes()).isZero();
      assertThat(right.receivedBytes()).isEqualTo(1024);
      assertThat(right.sentBytes()).isZero();
      pair.left.qp.postSend(pair.read(0).sge(pair.left.buffer, 0, 200).signaled());
      Side.assertSuccess(pair.left.sent());
      left = pair.left.context.counters();
      assertThat(left.readBytes()).isEqualTo(200);
      assertThat(left.sentBytes()).isEqualTo(1364);
      pair.left.qp.close();
      assertThat(pair.left.context.counters().sentBytes()).as("closed").isEqualTo(1364);
      pair.right.qp.close();
      assertThat(pair.right.context.counters().receivedBytes()).isEqualTo(1024);
    }
  }

  @Test
  void whatIsOpenIsCountedWhileItIs() {
    try (RcPair pair = RcPair.open()) {
      Counters before = pair.left.context.counters();
      assertThat(before.queuePairs()).isEqualTo(1);
      assertThat(before.connections()).isEqualTo(1);
      assertThat(before.connectionsMade()).isEqualTo(1);
      assertThat(before.memoryRegions()).isEqualTo(1);
      assertThat(before.registeredBytes()).isEqualTo(pair.left.buffer.length());
      assertThat(before.pinnedBytes()).isGreaterThan(before.registeredBytes());
      try (MemoryRegion more = pair.left.pd.allocate(1 << 20, Side.ALL)) {
        Counters with = pair.left.context.counters();
        assertThat(with.memoryRegions()).isEqualTo(2);
        assertThat(with.registeredBytes() - before.registeredBytes()).isEqualTo(more.length());
        assertThat(with.pinnedBytes() - before.pinnedBytes()).isGreaterThanOrEqualTo(1 << 20);
      }
      pair.left.qp.modify(QpAttributes.to(QpState.ERR));
      Counters after = pair.left.context.counters();
      assertThat(after.memoryRegions()).isEqualTo(1);
      assertThat(after.registeredBytes()).isEqualTo(before.registeredBytes());
      assertThat(after.connections()).isZero();
      pair.left.qp.close();
      after = pair.left.context.counters();
      assertThat(after.queuePairs()).isZero();
      assertThat(after.connectionsMade()).isEqualTo(1);
    }
  }

  @Test
  void eventsAreCounted() throws InterruptedException {
    try (RcPair pair = new RcSetup().channel().open()) {
      for (int i = 1; i <= 3; i++) {
        pair.left.sendQueue.requestNotify(false);
        pair.left.qp.postSend(pair.write(0).sge(pair.left.buffer, 0, 8).signaled());
        assertThat(pair.left.channel.await()).isSameAs(pair.left.sendQueue);
        Side.assertSuccess(pair.left.sent());
        assertThat(pair.left.context.counters().completionEvents()).isEqualTo(i);
      }
    }
  }
}
