package org.hghca.virtio.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.time.Duration;
import java.util.function.BooleanSupplier;
import org.hghca.verbs.AsyncEvent;
import org.hghca.verbs.AsyncEventType;
import org.hghca.verbs.BadRequestException;
import org.hghca.verbs.CompletionChannel;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.CompletionQueueConfig;
import org.hghca.verbs.Completions;
import org.hghca.verbs.Counter;
import org.hghca.verbs.DeviceAttributes;
import org.hghca.verbs.DeviceFeature;
import org.hghca.verbs.Errno;
import org.hghca.verbs.FeatureSupport;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.SharedReceiveQueue;
import org.hghca.verbs.SharedReceiveQueueConfig;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A shared receive queue that the driver deals to queue pairs 2 and 3. */
class SharedReceivesTest extends ScriptedDeviceFixture {
  private static final int RQ = ScriptedDevice.FIRST_RQ + 4;
  private static final int OTHER_RQ = RQ + 2;
  private static final int FLUSHED = 4;
  private static final Duration LIMIT = Duration.ofSeconds(20);

  private final Completions completions = new Completions(8);
  private CompletionChannel channel;
  private ProtectionDomain pd;
  private CompletionQueue cq;
  private SharedReceiveQueue shared;
  private QueuePair qp;
  private QueuePair other;

  @BeforeEach
  void connect() {
    pd = context.allocateProtectionDomain();
    channel = context.createCompletionChannel();
    cq =
        context.createCompletionQueue(
            CompletionQueueConfig.of(16).withRingEntries(16).withChannel(channel));
    shared = pd.createSharedReceiveQueue(SharedReceiveQueueConfig.of(6, 2));
    qp = connected(pd.createQueuePair(sharing()));
    device.answer(9, data -> ScriptedDevice.number(3));
    other = connected(pd.createQueuePair(sharing()));
    device.notified.clear();
  }

  @AfterEach
  void closeObjects() {
    qp.close();
    other.close();
    shared.close();
    cq.close();
    channel.close();
    pd.close();
  }

  private QueuePairConfig sharing() {
    return sized(QueuePairConfig.rc(cq, cq)).sharedReceiveQueue(shared);
  }

  private void post(int from, int end) {
    for (int i = from; i < end; i++) {
      shared.postReceive(new ReceiveRequest().wrId(i));
    }
  }

  /** The device completes the next receive of queue pair 2. */
  private void receive(int status) {
    byte[] request = device.take(RQ);
    device.use(RQ);
    device.complete(0, entry(request, status, 3, 2));
  }

  private void assertPolled(long... wrIds) {
    assertThat(cq.poll(completions)).isEqualTo(wrIds.length);
    for (int i = 0; i < wrIds.length; i++) {
      assertThat(completions.wrId(i)).isEqualTo(wrIds[i]);
    }
  }

  private AsyncEvent event() throws InterruptedException {
    AsyncEvent event = context.asyncEvents().await(LIMIT).orElseThrow();
    event.acknowledge();
    return event;
  }

  private static void await(BooleanSupplier condition, String what) {
    long end = System.nanoTime() + LIMIT.toNanos();
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime()).as(what).isLessThan(end);
      Thread.onSpinWait();
    }
  }

  @Test
  void attributes() {
    DeviceAttributes attributes = context.queryDevice();

    assertThat(attributes.features())
        .containsEntry(DeviceFeature.SHARED_RECEIVE_QUEUES, FeatureSupport.SOFTWARE);
    assertThat(attributes.maxSrq()).isEqualTo(attributes.maxQp());
    assertThat(attributes.maxSrqWr()).isEqualTo(128).isEqualTo(attributes.maxQpWr());
    assertThat(attributes.maxSrqSge()).isEqualTo(4);
    assertErrno(
            Errno.EINVAL, () -> pd.createSharedReceiveQueue(SharedReceiveQueueConfig.of(129, 1)))
        .withMessageContaining("between 1 and 128");
    assertErrno(Errno.EINVAL, () -> pd.createSharedReceiveQueue(SharedReceiveQueueConfig.of(4, 5)))
        .withMessageContaining("between 0 and 4");
  }

  @Test
  void receiveQueuesHaveRoomForAllRequests() {
    // cap: 4 sends, 6 receives, 2 and 2 elements, 64 bytes inline
    assertThat(device.commands(9))
        .hasSize(2)
        .allSatisfy(
            command ->
                assertThat(command)
                    .contains("04000000" + "06000000" + "02000000" + "02000000" + "40000000"));
    assertThat(qp.capabilities().receiveDepth()).isZero();
    assertThat(qp.sharedReceiveQueue()).contains(shared);
    assertThatExceptionOfType(BadRequestException.class)
        .isThrownBy(() -> qp.postReceive(new ReceiveRequest()))
        .withMessageContaining("takes its receives from a shared receive queue");
    try (ProtectionDomain another = context.allocateProtectionDomain()) {
      assertErrno(Errno.EINVAL, () -> another.createQueuePair(sharing()))
          .withMessageContaining("another protection domain");
    }
  }

  @Test
  void eachQueuePairGetsOneRequest() {
    ReceiveRequest[] list = {
      new ReceiveRequest().wrId(0).sge(0x1000, 16, 7), new ReceiveRequest(), new ReceiveRequest()
    };
    assertThat(shared.tryPostReceive(list, 0, 3)).isEqualTo(3);

    assertThat(device.available(RQ)).isEqualTo(1);
    assertThat(device.available(OTHER_RQ)).isEqualTo(1);
    assertThat(device.notified).containsExactlyInAnyOrder(RQ, OTHER_RQ);
    byte[] posted = device.take(RQ);
    assertThat(hex(posted, 8, 40))
        .isEqualTo("01000000" + "00".repeat(12) + "0010000000000000" + "10000000" + "07000000");
  }

  @Test
  void pollDealsTheNextRequest() {
    post(0, 6);
    receive(0);
    assertPolled(0);

    assertThat(device.available(RQ)).isPositive();
    receive(0);
    assertPolled(2);
    assertThat(context.counters().get(Counter.RECEIVES_POSTED)).isEqualTo(6);
  }

  @Test
  void nextRequestIsDealtWhileNoThreadPolls() {
    post(0, 6);
    for (int i = 0; i < 3; i++) {
      await(() -> device.available(RQ) > 0, "another request for queue pair 2");
      receive(0);
    }

    assertPolled(0, 2, 3);
  }

  @Test
  void flushedRequestGoesToAnotherQueuePair() throws InterruptedException {
    post(0, 2);
    qp.modify(QpAttributes.to(QpState.ERR));
    receive(FLUSHED);

    assertPolled();
    AsyncEvent event = event();
    assertThat(event.type()).isEqualTo(AsyncEventType.QP_LAST_WQE_REACHED);
    assertThat(event)
        .isInstanceOfSatisfying(
            AsyncEvent.OfQueuePair.class, e -> assertThat(e.queuePair()).isSameAs(qp));
    assertThat(context.counters().get(Counter.FLUSHED)).isZero();
    byte[] request = device.take(OTHER_RQ);
    device.use(OTHER_RQ);
    device.complete(0, entry(request, 0, 3, 3));
    assertPolled(1);
    request = device.take(OTHER_RQ);
    device.use(OTHER_RQ);
    device.complete(0, entry(request, 0, 3, 3));
    assertPolled(0);
  }

  @Test
  void failedSendEndsAQueuePairWithoutRequests() throws InterruptedException {
    qp.postSend(new SendRequest(1).send());
    byte[] send = device.take(RQ - 1);
    device.use(RQ - 1);
    device.complete(0, entry(send, 10, 0, 2));

    assertPolled(0);
    assertThat(event().type()).isEqualTo(AsyncEventType.QP_LAST_WQE_REACHED);
    post(0, 1);
    assertThat(device.available(RQ)).isZero();
    assertThat(device.available(OTHER_RQ)).isEqualTo(1);
  }

  @Test
  void failedReceiveIsReported() throws InterruptedException {
    post(0, 2);
    receive(1);

    assertPolled(0);
    assertThat(qp.state()).isEqualTo(QpState.ERR);
    assertThat(event().type()).isEqualTo(AsyncEventType.QP_LAST_WQE_REACHED);
  }

  @Test
  void requestsComeBackWithTheReset() {
    post(0, 2);
    receive(0);
    qp.modify(QpAttributes.to(QpState.RESET));

    assertPolled();
    assertThat(device.available(RQ)).isZero();
    post(2, 6);
    assertThat(shared.tryPostReceive(new ReceiveRequest())).isFalse();
    connected(qp);
    receive(0);
    assertPolled(0);
  }

  @Test
  void requestsComeBackWithTheClose() {
    post(0, 2);
    other.close();
    device.take(RQ);
    qp.close();
    device.rewind(RQ);
    device.rewind(RQ - 1);
    device.answer(9, data -> ScriptedDevice.number(2));
    qp = connected(pd.createQueuePair(sharing()));

    receive(0);
    assertPolled(0);
    receive(0);
    assertPolled(1);
  }

  @Test
  void limitIsReachedByPolling() throws InterruptedException {
    post(0, 4);
    shared.limit(4);
    receive(0);
    assertPolled(0);

    AsyncEvent event = event();
    assertThat(event.type()).isEqualTo(AsyncEventType.SRQ_LIMIT_REACHED);
    assertThat(shared.limit()).isZero();
  }

  @Test
  void returnedRequestsWakeNoProgram() throws InterruptedException {
    post(0, 2);
    cq.requestNotify(false);
    qp.modify(QpAttributes.to(QpState.ERR));
    receive(FLUSHED);
    device.interrupt(ScriptedDevice.FIRST_CQ);

    assertThat(event().type()).isEqualTo(AsyncEventType.QP_LAST_WQE_REACHED);
    await(() -> device.commands(17).size() == 2, "armed once more");
    assertThat(device.commands(17)).containsOnly("00000000" + "02000000");
    assertThat(channel.poll()).isEmpty();
    byte[] request = device.take(OTHER_RQ);
    device.use(OTHER_RQ);
    device.complete(0, entry(request, 0, 3, 3));
    device.interrupt(ScriptedDevice.FIRST_CQ);
    assertThat(channel.await(LIMIT)).contains(cq);
    assertPolled(1);
  }

  @Test
  void brokenRingEndsTheDeviceAndNotTheCaller() {
    post(0, 2);
    device.complete(0, entry(new byte[8], 0, 3, 2)); // of a send that does not exist

    assertErrno(Errno.EIO, () -> cq.poll(completions)).withMessageContaining("twice");
    assertThatExceptionOfType(BadRequestException.class)
        .isThrownBy(() -> shared.postReceive(new ReceiveRequest()))
        .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EIO));
  }
}
