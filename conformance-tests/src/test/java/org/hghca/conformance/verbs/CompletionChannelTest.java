package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.hghca.conformance.verbs.Failures.assertErrno;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.hghca.conformance.profile.Feature;
import org.hghca.conformance.profile.Needs;
import org.hghca.conformance.profile.TestProfile;
import org.hghca.conformance.profile.TestTime;
import org.hghca.conformance.table.Tier;
import org.hghca.conformance.table.VerbsCase;
import org.hghca.verbs.CompletionChannel;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.CompletionQueueConfig;
import org.hghca.verbs.Completions;
import org.hghca.verbs.Context;
import org.hghca.verbs.DeviceFeature;
import org.hghca.verbs.Errno;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QpType;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.VerbsException;
import org.hghca.verbs.WcStatus;
import org.hghca.verbs.WrOpcode;
import org.hghca.vfio.testing.Waiters;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Waiting for completions instead of polling for them, with every way in which a driver learns of
 * them.
 */
@Tag("rc")
class CompletionChannelTest {
  private static final Duration LIMIT = TestTime.seconds(20);
  private static final Duration NOW = Duration.ZERO;

  /** Long for expected events, short for unexpected ones. */
  private static final Duration MOMENT = TestTime.millis(50);

  private static final String INTERRUPTS = "";
  private static final String NO_INTERRUPTS = "&interrupts=none";
  private static final String POLL = "&events=poll";

  private static RcPair open(String parameters) {
    return new RcSetup().channel().on(Fabric.inline(parameters));
  }

  private static void write(RcPair pair, boolean signaled) {
    SendRequest request = pair.write(0).sge(pair.left.buffer, 0, 8);
    pair.left.qp.postSend(signaled ? request.signaled() : request);
  }

  /** Writes until the completion is there, unpolled: what the peer sends afterwards has come. */
  private static void complete(RcPair pair) {
    pair.left.randomize(0, 8, new SplittableRandom(7));
    pair.left.postReceive(0, 64, 8);
    write(pair, true);
    pair.fabric.awaitWritten(pair.right.memory().asSlice(0, 8), pair.left.memory().asSlice(0, 8));
    pair.right.qp.postSend(pair.right.send.send().sge(pair.right.buffer, 0, 8).signaled());
    Side.assertSuccess(pair.right.sent());
    Side.assertSuccess(pair.left.received());
  }

  private static void writeWhenThereIsRoom(RcPair pair) {
    SendRequest request = pair.write(0).sge(pair.left.buffer, 0, 8);
    for (long start = System.nanoTime(); !pair.left.qp.tryPostSend(request); ) {
      assertThat(System.nanoTime() - start).as("waiting for room").isLessThan(LIMIT.toNanos());
      Thread.yield();
    }
  }

  private static SendRequest numbered(SendRequest request, int number) {
    return TestProfile.has(Feature.SEND_WITH_IMMEDIATE)
        ? request.sendWithImmediate(number)
        : request.send();
  }

  @ParameterizedTest
  @ValueSource(strings = {INTERRUPTS, NO_INTERRUPTS, POLL})
  void hundredMessagesRaiseEventsOnBothSides(String parameters) throws Exception {
    try (RcPair pair = open(parameters)) {
      pair.left.sendQueue.requestNotify(false);
      pair.right.receiveQueue.requestNotify(false);
      for (int i = 0; i < 100; i++) {
        pair.right.postReceive(i, 0, 64);
        pair.left.qp.postSend(
            numbered(pair.left.send.wrId(i), i).sge(pair.left.buffer, 0, 64).signaled());
        assertThat(pair.right.channel.await(LIMIT)).containsSame(pair.right.receiveQueue);
        pair.right.receiveQueue.requestNotify(false);
        List<Wc> received = Wc.drain(pair.right.receiveQueue);
        assertThat(received).extracting(Wc::wrId).containsExactly((long) i);
        if (TestProfile.has(Feature.SEND_WITH_IMMEDIATE)) {
          assertThat(received).extracting(Wc::immediate).containsExactly(i);
        }
        assertThat(pair.left.channel.await(LIMIT)).containsSame(pair.left.sendQueue);
        pair.left.sendQueue.requestNotify(false);
        assertThat(Wc.drain(pair.left.sendQueue)).extracting(Wc::wrId).containsExactly((long) i);
      }
      assertThat(pair.left.channel.await(NOW)).isEmpty();
      assertThat(pair.right.channel.await(NOW)).isEmpty();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {INTERRUPTS, NO_INTERRUPTS, POLL})
  void noWakeUpIsLostUnderLoad(String parameters) throws Exception {
    int posters = 3;
    int each = 3000;
    try (RcPair pair = new RcSetup().channel().depth(32).on(Fabric.threaded(parameters))) {
      AtomicReference<Throwable> failure = new AtomicReference<>();
      CountDownLatch done = new CountDownLatch(1);
      Thread waiter =
          Thread.startVirtualThread(
              () -> {
                try {
                  awaitCompletions(pair.left.channel, posters * each);
                } catch (Exception | AssertionError e) {
                  failure.set(e);
                } finally {
                  done.countDown();
                }
              });
      pair.left.sendQueue.requestNotify(false);
      List<Thread> threads = new ArrayList<>();
      for (int p = 0; p < posters; p++) {
        threads.add(
            Thread.ofPlatform()
                .daemon()
                .start(
                    () -> {
                      SendRequest request = new SendRequest();
                      request
                          .rdmaWrite(pair.right.address(0), pair.right.buffer.rkey())
                          .sge(pair.left.buffer, 0, 8)
                          .signaled();
                      for (int i = 0; i < each && done.getCount() > 0; ) {
                        if (pair.left.qp.tryPostSend(request)) {
                          i++;
                        } else {
                          Thread.yield();
                        }
                      }
                    }));
      }
      assertThat(done.await(3 * LIMIT.toNanos(), TimeUnit.NANOSECONDS)).isTrue();
      for (Thread thread : threads) {
        thread.join();
      }
      waiter.join();
      assertThat(failure.get()).isNull();
    }
  }

  /** Arm, drain, wait: as a program does. */
  private static void awaitCompletions(CompletionChannel channel, int count)
      throws InterruptedException {
    Completions completions = new Completions(16);
    int found = 0;
    while (found < count) {
      Optional<CompletionQueue> queue = channel.await(LIMIT);
      if (queue.isEmpty()) {
        throw new AssertionError("%d of %d completions, then no event".formatted(found, count));
      }
      queue.get().requestNotify(false);
      for (int n = queue.get().poll(completions); n > 0; n = queue.get().poll(completions)) {
        found += n;
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {INTERRUPTS, NO_INTERRUPTS})
  @Needs(Feature.SOLICITED_ONLY)
  @VerbsCase(
      says = "solicited-only notify: an unsolicited receive raises no event, a solicited one does")
  @VerbsCase(says = "solicited-only notify: an error raises the event, too")
  void solicitedNotificationReportsSolicitedOnesAndErrors(String parameters) throws Exception {
    try (RcPair pair = open(parameters)) {
      CompletionQueue queue = pair.right.receiveQueue;
      if (!pair.right.context.queryDevice().has(DeviceFeature.SOLICITED_ONLY)) {
        // A virtio device says it by interrupts alone.
        assertThat(TestProfile.isVirtio() && parameters.equals(NO_INTERRUPTS)).isTrue();
        assertErrno(Errno.EOPNOTSUPP, () -> queue.requestNotify(true));
        return;
      }
      queue.requestNotify(true);
      for (int i = 0; i < 4; i++) {
        pair.right.postReceive(i, 0, 64);
      }
      pair.left.qp.postSend(pair.left.send.send().sge(pair.left.buffer, 0, 8).signaled());
      Side.assertSuccess(pair.left.sent());
      assertThat(pair.right.channel.await(MOMENT)).isEmpty();
      pair.left.qp.postSend(
          pair.left.send.send().sge(pair.left.buffer, 0, 8).solicited().signaled());
      Side.assertSuccess(pair.left.sent());
      assertThat(pair.right.channel.await(LIMIT)).containsSame(queue);
      assertThat(Wc.drain(queue)).hasSize(2);

      queue.requestNotify(true);
      pair.right.qp.modify(QpAttributes.to(QpState.ERR));
      assertThat(pair.right.channel.await(LIMIT)).containsSame(queue);
      assertThat(Wc.drain(queue)).extracting(Wc::status).containsOnly(WcStatus.WR_FLUSH_ERR);
    }
  }

  @Test
  @Needs(Feature.SOLICITED_ONLY)
  void notificationForAllOverridesSolicitedAndRaisesOneEvent() throws Exception {
    try (RcPair pair = open(INTERRUPTS)) {
      pair.left.sendQueue.requestNotify(true);
      pair.left.sendQueue.requestNotify(false);
      pair.left.sendQueue.requestNotify(true);
      write(pair, true);
      write(pair, true);
      assertThat(pair.left.channel.await(LIMIT)).containsSame(pair.left.sendQueue);
      assertThat(pair.left.sent(2)).hasSize(2);
      assertThat(pair.left.channel.await(MOMENT)).isEmpty();
    }
  }

  @Test
  void polledDeviceCannotReportWhichReceivesWereSolicited() {
    try (RcPair pair = open(POLL)) {
      assertErrno(Errno.EOPNOTSUPP, () -> pair.left.receiveQueue.requestNotify(true));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {INTERRUPTS, NO_INTERRUPTS, POLL})
  void unsignaledSendsRaiseNoEvent(String parameters) throws Exception {
    try (RcPair pair = open(parameters)) {
      for (int round = 0; round < 3; round++) {
        pair.left.sendQueue.requestNotify(false);
        for (int i = 0; i < 10; i++) {
          write(pair, false);
        }
        assertThat(pair.left.channel.await(MOMENT)).isEmpty();
        // No thread polls, but there is room for more than the queue's depth of 16, where the
        // driver sees unsignaled completions.
        for (int i = 0; i < (TestProfile.isVirtio() ? 5 : 10); i++) {
          writeWhenThereIsRoom(pair);
        }
        assertThat(pair.left.channel.await(MOMENT)).isEmpty();
        write(pair, true);
        assertThat(pair.left.channel.await(LIMIT)).containsSame(pair.left.sendQueue);
        Side.assertSuccess(pair.left.sent());
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {INTERRUPTS, POLL})
  @VerbsCase(
      says = "one event for each request to notify, none for completions that are present already")
  void presentCompletionsAndUnarmedQueuesRaiseNoEvent(String parameters) throws Exception {
    try (RcPair pair = open(parameters)) {
      complete(pair);
      assertThat(pair.left.channel.await(NOW)).isEmpty();
      pair.left.sendQueue.requestNotify(false);
      assertThat(pair.left.channel.await(MOMENT)).isEmpty();
      write(pair, true);
      assertThat(pair.left.channel.await(LIMIT)).containsSame(pair.left.sendQueue);
      assertThat(pair.left.sent(2)).hasSize(2);
      write(pair, true);
      assertThat(pair.left.channel.await(MOMENT)).isEmpty();
      Side.assertSuccess(pair.left.sent());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {INTERRUPTS, NO_INTERRUPTS, POLL})
  void receiveFlushedInSoftwareRaisesAnEvent(String parameters) throws Exception {
    try (RcPair pair = open(parameters)) {
      pair.left.qp.modify(QpAttributes.to(QpState.ERR));
      pair.left.receiveQueue.requestNotify(false);
      assertThat(pair.left.channel.await(MOMENT)).isEmpty();
      pair.left.postReceive(77, 0, 8);
      assertThat(pair.left.channel.await(LIMIT)).containsSame(pair.left.receiveQueue);
      assertThat(pair.left.received().wrId()).isEqualTo(77);
    }
  }

  @Test
  void futuresAndThreadsAreServedInTheirOrder() throws Exception {
    try (RcPair pair = open(INTERRUPTS)) {
      CompletionChannel channel = pair.left.channel;
      CompletableFuture<CompletionQueue> first = channel.next();
      CompletableFuture<CompletionQueue> cancelled = channel.next();
      CompletableFuture<Boolean> third =
          channel.next().thenApply(queue -> Thread.currentThread().isVirtual());
      CompletableFuture<CompletionQueue> fourth = channel.next();
      assertThat(cancelled.cancel(false)).isTrue();
      for (int i = 0; i < 3; i++) {
        pair.left.sendQueue.requestNotify(false);
        write(pair, true);
        Side.assertSuccess(pair.left.sent());
        switch (i) {
          case 0 ->
              assertThat(first.get(LIMIT.toNanos(), TimeUnit.NANOSECONDS))
                  .isSameAs(pair.left.sendQueue);
          case 1 -> assertThat(third.get(LIMIT.toNanos(), TimeUnit.NANOSECONDS)).isTrue();
          default ->
              assertThat(fourth.get(LIMIT.toNanos(), TimeUnit.NANOSECONDS))
                  .isSameAs(pair.left.sendQueue);
        }
      }
      assertThat(channel.await(NOW)).isEmpty();
    }
  }

  @Test
  void interruptedWaiterLosesNoEvent() throws Exception {
    try (RcPair pair = open(INTERRUPTS)) {
      AtomicReference<Throwable> outcome = new AtomicReference<>();
      Thread waiter =
          Thread.startVirtualThread(
              () -> {
                try {
                  pair.left.channel.await();
                } catch (InterruptedException | VerbsException e) {
                  outcome.set(e);
                }
              });
      Waiters.await(List.of(waiter));
      waiter.interrupt();
      waiter.join();
      assertThat(outcome.get()).isInstanceOf(InterruptedException.class);
      pair.left.sendQueue.requestNotify(false);
      write(pair, true);
      assertThat(pair.left.channel.await(LIMIT)).containsSame(pair.left.sendQueue);
      Side.assertSuccess(pair.left.sent());
    }
  }

  @Test
  void closingAChannelEndsEveryWait() throws Exception {
    try (Fabric fabric = Fabric.inline()) {
      CompletionChannel channel = fabric.left().createCompletionChannel();
      CompletableFuture<CompletionQueue> future = channel.next();
      AtomicReference<Throwable> outcome = new AtomicReference<>();
      Thread waiter =
          Thread.startVirtualThread(
              () -> {
                try {
                  channel.await();
                } catch (InterruptedException | VerbsException e) {
                  outcome.set(e);
                }
              });
      Waiters.await(List.of(waiter));
      channel.close();
      channel.close();
      waiter.join();
      assertThat(outcome.get())
          .isInstanceOfSatisfying(
              VerbsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EINVAL));
      assertThatThrownBy(() -> future.get(LIMIT.toNanos(), TimeUnit.NANOSECONDS))
          .isInstanceOf(ExecutionException.class)
          .hasCauseInstanceOf(VerbsException.class);
      assertErrno(Errno.EINVAL, channel::poll);
    }
  }

  @Test
  void channelIsInUseByItsOpenQueues() throws Exception {
    try (RcPair pair = open(INTERRUPTS)) {
      CompletionChannel channel = pair.left.context.createCompletionChannel();
      CompletionQueueConfig config = CompletionQueueConfig.of(4).withChannel(channel);
      try (CompletionQueue queue = pair.left.context.createCompletionQueue(config)) {
        assertThat(queue.channel()).containsSame(channel);
        assertThatThrownBy(channel::close).hasMessageContaining("CQ").hasMessageContaining("EBUSY");
      }
      channel.close();
      assertErrno(Errno.EINVAL, () -> pair.left.context.createCompletionQueue(config));
    }
    try (Fabric fabric = Fabric.inline()) {
      CompletionChannel channel = fabric.left().createCompletionChannel();
      assertErrno(
          Errno.EINVAL,
          () ->
              fabric
                  .right()
                  .createCompletionQueue(CompletionQueueConfig.of(4).withChannel(channel)));
      channel.close();
    }
  }

  @Test
  @VerbsCase(says = "a request to notify of a CQ without a channel is EINVAL")
  void queueWithoutAChannelRefusesNotification() {
    try (RcPair pair = RcPair.open()) {
      assertThat(pair.left.sendQueue.channel()).isEmpty();
      assertErrno(Errno.EINVAL, () -> pair.left.sendQueue.requestNotify(false));
    }
  }

  @Test
  void queuesAreCreatedOnEveryVectorAndOnNoOther() throws Exception {
    try (RcPair pair = open(INTERRUPTS)) {
      Context context = pair.left.context;
      int vectors = context.queryDevice().completionVectors();
      assertThat(vectors)
          .isEqualTo(TestProfile.isVirtio() ? 32 : TestProfile.hardware().eventQueues() ? 4 : 1);
      for (int vector : new int[] {-1, vectors}) {
        assertErrno(
            Errno.EINVAL,
            () -> context.createCompletionQueue(CompletionQueueConfig.of(4).withVector(vector)));
      }
      for (int vector = 0; vector < vectors; vector++) {
        CompletionQueueConfig config =
            CompletionQueueConfig.of(32).withVector(vector).withChannel(pair.left.channel);
        try (CompletionQueue queue = context.createCompletionQueue(config);
            QueuePair peer =
                pair.right.pd.createQueuePair(
                    QueuePairConfig.rc(pair.right.sendQueue, pair.right.receiveQueue));
            QueuePair qp = pair.left.pd.createQueuePair(QueuePairConfig.rc(queue, queue))) {
          RcPair.connect(pair.setup(), qp, peer);
          queue.requestNotify(false);
          qp.postSend(pair.write(0).sge(pair.left.buffer, 0, 8).signaled());
          assertThat(pair.left.channel.await(LIMIT)).containsSame(queue);
          Side.assertSuccess(Wc.awaitOne(pair.fabric, queue));
        }
      }
    }
    for (String parameters : List.of(NO_INTERRUPTS, POLL)) {
      try (Fabric fabric = Fabric.inline(parameters)) {
        assertThat(fabric.left().queryDevice().completionVectors()).isEqualTo(1);
      }
    }
  }

  /** One context, two queue pairs, and a thread that takes the events of both. */
  @Tag("loop")
  @Test
  void twoConnectionsOfOneContextWhileAThreadTakesTheEvents() throws Exception {
    int count = 200;
    try (RcPair pair = new RcSetup().channel().on(Fabric.oneDevice())) {
      AtomicReference<Throwable> failure = new AtomicReference<>();
      pair.right.receiveQueue.requestNotify(false);
      Thread taker =
          Thread.ofPlatform()
              .daemon()
              .start(
                  () -> {
                    try {
                      awaitCompletions(pair.right.channel, count);
                    } catch (InterruptedException | RuntimeException | AssertionError e) {
                      failure.set(e);
                    }
                  });
      for (int i = 0; i < count; i++) {
        while (!pair.right.qp.tryPostReceive(pair.right.receive.into(pair.right.buffer, 0, 64))) {
          Thread.yield();
        }
        pair.left.qp.postSend(numbered(pair.left.send, i).sge(pair.left.buffer, 0, 64).signaled());
        Side.assertSuccess(pair.left.sent());
      }
      taker.join(20_000);
      assertThat(failure.get()).isNull();
      assertThat(taker.isAlive()).isFalse();
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_cq_events.CqEventsTestCase.test_cq_events_rc",
      says = "100 RC messages each way, each wait ends by an event: none is lost")
  void eventsOfReliableConnections() {
    try (RcPair pair = new RcSetup().type(QpType.RC).events().on(Fabric.threaded())) {
      pair.traffic(WrOpcode.SEND, 1024, 100);
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_cq_events.CqEventsTestCase.test_cq_events_ud",
      says = "100 datagrams each way, each wait ends by an event: none is lost")
  void eventsOfDatagrams() {
    try (RcPair pair = new RcSetup().type(QpType.UD).events().on(Fabric.threaded())) {
      pair.traffic(WrOpcode.SEND, 1024, 100);
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_cq.CQAPITest.test_create_cq_with_comp_channel",
      says = "cqe of 1, half and all of max_cqe with a channel")
  void everySizeWithAChannel() {
    try (Fabric fabric = Fabric.open();
        CompletionChannel channel = fabric.left().createCompletionChannel()) {
      int most = fabric.left().queryDevice().maxCqe();
      for (int entries : new int[] {1, most / 2, most}) {
        CompletionQueueConfig config = CompletionQueueConfig.of(entries);
        try (CompletionQueue queue =
            fabric.left().createCompletionQueue(config.withChannel(channel))) {
          assertThat(queue.channel()).containsSame(channel);
          assertThat(queue.entries()).isGreaterThanOrEqualTo(entries);
          assertErrno(Errno.EBUSY, channel::close);
        }
      }
    }
  }
}
