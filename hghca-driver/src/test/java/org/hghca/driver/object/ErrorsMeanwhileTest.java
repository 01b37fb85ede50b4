package org.hghca.driver.object;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.hghca.driver.Failures.assertErrno;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.Completions;
import org.hghca.verbs.Errno;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.RdmaDevice;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.VerbsException;
import org.junit.jupiter.api.Test;

/** Errors, resets and closes that overlap. */
class ErrorsMeanwhileTest {

  @Test
  void errorPolledDuringAResetDoesNotUndoIt() {
    try (DriverFixture it = new DriverFixture()) {
      it.connect();
      it.function.onCommand(it.qp::failed);
      it.qp.modify(QpAttributes.to(QpState.RESET));
      assertThat(it.qp.state()).isEqualTo(QpState.RESET);
      assertThatThrownBy(() -> it.qp.tryPostSend(new SendRequest().send()))
          .hasMessageContaining("is in RESET and takes no send requests");
      it.function.onCommand(() -> {});
      it.connect();
    }
  }

  @Test
  void errorPolledDuringACloseDoesNotReopenTheQueues() {
    try (DriverFixture it = new DriverFixture()) {
      it.connect();
      it.function.onCommand(it.qp::failed);
      it.qp.close();
      assertThatThrownBy(() -> it.qp.tryPostSend(new SendRequest().send()))
          .hasMessageContaining("is closed");
      assertThatThrownBy(() -> it.qp.tryPostReceive(new ReceiveRequest()))
          .hasMessageContaining("is closed");
    }
  }

  @Test
  void errorPolledDuringAModifyStays() {
    try (DriverFixture it = new DriverFixture()) {
      it.connect();
      it.function.onCommand(it.qp::failed);
      it.qp.modify(QpAttributes.to(QpState.RTS).minRnrTimer(3));
      assertThat(it.qp.state()).isEqualTo(QpState.ERR);
    }
  }

  @Test
  void nothingIsPostedToAFailedDevice() {
    try (DriverFixture it = new DriverFixture()) {
      it.connect();
      it.device.card().health().fail("it burns");
      assertEio(() -> it.qp.tryPostSend(new SendRequest().send()));
      assertEio(() -> it.qp.tryPostSend(new SendRequest[] {new SendRequest().send()}, 0, 1));
      assertEio(() -> it.qp.tryPostReceive(new ReceiveRequest()));
    }
  }

  private static void assertEio(Runnable verb) {
    assertErrno(Errno.EIO, verb::run);
  }

  @Test
  void everyVerbOfARemovedCardFailsWithEioAndEverythingCloses() {
    DriverFixture it = new DriverFixture();
    it.connect();
    MemoryRegion region = it.pd.allocate(8192, AccessFlag.LOCAL_WRITE);
    it.function.lose();
    assertEio(() -> it.context.queryPort(1));
    assertEio(() -> it.context.queryPort(1));
    assertEio(() -> it.qp.query());
    assertEio(() -> it.qp.modify(QpAttributes.to(QpState.ERR)));
    assertEio(() -> it.pd.allocate(4096, AccessFlag.LOCAL_WRITE));
    assertEio(() -> it.qp.tryPostSend(new SendRequest().send()));
    assertThatThrownBy(it.pd::close).hasMessageContaining("EBUSY");
    region.close();
    it.close();
    assertThat(it.function.isClosed()).isTrue();
    assertThat(it.function.mappings()).isZero();
  }

  @Test
  void openingAFailedDeviceFailsAndLeavesNothingBehind() {
    try (DriverFixture it = new DriverFixture()) {
      int domains = it.device.pdNumbers().inUse();
      it.device.card().health().fail("it burns");
      RdmaDevice name = it.context.device();
      assertEio(() -> new DeviceContext(name, it.device, () -> {}));
      assertThat(it.device.contexts()).containsExactly(it.context);
      assertThat(it.device.pdNumbers().inUse()).isEqualTo(domains);
    }
  }

  @Test
  void queuePairWhoseResetFailsTheDeviceIsInErr() {
    try (DriverFixture it = new DriverFixture()) {
      it.connect();
      it.function.lose();
      assertEio(() -> it.qp.modify(QpAttributes.to(QpState.RESET)));
      assertThat(it.qp.state()).isEqualTo(QpState.ERR);
      assertEio(() -> it.qp.tryPostSend(new SendRequest().send()));
    }
  }

  @Test
  void receiveOfTooManyElementsIsRefusedInErrToo() {
    try (DriverFixture it = new DriverFixture()) {
      it.connect();
      it.qp.modify(QpAttributes.to(QpState.ERR));
      ReceiveRequest request = new ReceiveRequest(32);
      for (int i = 0; i <= it.qp.capabilities().maxReceiveSge(); i++) {
        request.sge(4096, 8, 1);
      }
      assertThatThrownBy(() -> it.qp.tryPostReceive(request))
          .hasMessageContaining("scatter/gather elements")
          .hasMessageContaining("EINVAL");
      assertThat(it.qp.tryPostReceive(new ReceiveRequest())).isTrue();
    }
  }

  @Test
  void domainIsInUseWhileARegionIsBeingCreated() {
    try (DriverFixture it = new DriverFixture()) {
      List<Throwable> refusals = new CopyOnWriteArrayList<>();
      it.function.onCommand(
          () -> {
            try {
              it.pd.close();
            } catch (RuntimeException e) {
              refusals.add(e);
            }
          });
      it.pd.allocate(4096, AccessFlag.LOCAL_WRITE).close();
      assertThat(refusals.getFirst())
          .hasMessageContaining("PD")
          .hasMessageContaining("an object that is being made")
          .hasMessageContaining("EBUSY");
    }
  }

  @Test
  void closedObjectSaysSoAlsoWhenItsMemoryIsUnmapped() {
    DriverFixture it = new DriverFixture();
    it.connect();
    it.close();
    assertThat(it.function.isClosed()).isTrue();
    assertThatThrownBy(() -> it.cq.poll(new Completions(1)))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("is closed");
    assertThatThrownBy(() -> it.qp.tryPostSend(new SendRequest().send()))
        .hasMessageContaining("is closed");
    assertThatThrownBy(() -> it.qp.tryPostReceive(new ReceiveRequest()))
        .hasMessageContaining("is closed");
  }

  @Test
  void completionQueueIsClosedAfterAConcurrentPoll() throws InterruptedException {
    try (DriverFixture it = new DriverFixture()) {
      HghcaCompletionQueue cq = (HghcaCompletionQueue) it.context.createCompletionQueue(16);
      List<String> events = new CopyOnWriteArrayList<>();
      it.function.onCommand(() -> events.add("command"));
      Thread closing = Thread.ofPlatform().unstarted(cq::close);
      // Work under the queue's lock represents a poll.
      cq.drop(
          it.qp.rings(),
          () -> {
            closing.start();
            while (!cq.isClosed()) {
              Thread.onSpinWait();
            }
            for (int i = 0; i < 1000; i++) {
              Thread.yield();
            }
            events.add("polled");
          });
      closing.join();
      assertThat(events).startsWith("polled", "command");
    }
  }
}
