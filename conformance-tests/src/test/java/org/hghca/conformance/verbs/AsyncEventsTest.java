package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.hghca.conformance.verbs.Failures.assertErrno;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.hghca.conformance.profile.Feature;
import org.hghca.conformance.profile.Needs;
import org.hghca.conformance.profile.TestProfile;
import org.hghca.conformance.profile.TestTime;
import org.hghca.conformance.table.Tier;
import org.hghca.conformance.table.VerbsCase;
import org.hghca.model.Simulation;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.AsyncEvent;
import org.hghca.verbs.AsyncEventType;
import org.hghca.verbs.AsyncEvents;
import org.hghca.verbs.Context;
import org.hghca.verbs.Errno;
import org.hghca.verbs.PortState;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.RdmaDevices;
import org.hghca.verbs.VerbsException;
import org.hghca.verbs.WcStatus;
import org.hghca.verbs.WrOpcode;
import org.hghca.vfio.testing.Waiters;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Each asynchronous event by its cause, with interrupts and without. */
class AsyncEventsTest {
  private static final Duration LIMIT = TestTime.seconds(20);

  /** Long for expected events, short for unexpected ones. */
  private static final Duration MOMENT = TestTime.millis(50);

  private static final String INTERRUPTS = "";
  private static final String NO_INTERRUPTS = "&interrupts=none";

  /** The next event except those of ports, which the cable causes. */
  private static AsyncEvent next(Context context) throws InterruptedException {
    Optional<AsyncEvent> event = context.asyncEvents().await(LIMIT);
    while (event.isPresent() && event.get() instanceof AsyncEvent.OfPort) {
      event = context.asyncEvents().await(LIMIT);
    }
    return event.orElseThrow(() -> new AssertionError("no event came"));
  }

  private static void assertQuiet(Context context) throws InterruptedException {
    Optional<AsyncEvent> event = context.asyncEvents().await(MOMENT);
    while (event.isPresent() && event.get() instanceof AsyncEvent.OfPort) {
      event = context.asyncEvents().await(MOMENT);
    }
    assertThat(event).isEmpty();
  }

  private static void assertEvent(AsyncEvent event, AsyncEventType type, QueuePair qp) {
    assertThat(event.type()).isEqualTo(type);
    assertThat(Events.object(event)).isSameAs(qp);
  }

  @ParameterizedTest
  @ValueSource(strings = {INTERRUPTS, NO_INTERRUPTS})
  @Needs(Feature.CARD_EVENTS)
  void firstPacketInRtrEstablishesTheConnection(String parameters) throws Exception {
    try (RcPair pair = new RcSetup().unconnected().on(Fabric.inline(parameters))) {
      RcPair.connectReceiver(pair.setup(), pair.left.qp, pair.right.qp, pair.setup().rightPsn());
      RcPair.connectReceiver(pair.setup(), pair.right.qp, pair.left.qp, pair.setup().leftPsn());
      pair.right.qp.modify(
          pair.setup().connection().toRts(pair.right.qp.type(), pair.setup().rightPsn()));
      assertQuiet(pair.left.context);
      pair.left.postReceive(1, 0, 8);
      pair.right.qp.postSend(pair.right.send.send().sge(pair.right.buffer, 0, 8).signaled());
      Side.assertSuccess(pair.right.sent());
      AsyncEvent event = next(pair.left.context);
      assertEvent(event, AsyncEventType.COMM_EST, pair.left.qp);
      event.acknowledge();
      Side.assertSuccess(pair.left.received());
      assertQuiet(pair.right.context);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {INTERRUPTS, NO_INTERRUPTS})
  @Needs({Feature.SQD, Feature.CARD_EVENTS})
  @VerbsCase(says = "SQD with notification and nothing started: IBV_EVENT_SQ_DRAINED at once")
  void drainedSendQueueRaisesAnEventOnRequest(String parameters) throws Exception {
    try (RcPair pair = new RcSetup().on(Fabric.inline(parameters))) {
      pair.left.qp.modify(QpAttributes.to(QpState.SQD));
      assertQuiet(pair.left.context);
      pair.left.qp.modify(QpAttributes.to(QpState.RTS));
      pair.left.qp.modify(QpAttributes.to(QpState.SQD).sqdNotify(true));
      AsyncEvent event = next(pair.left.context);
      assertEvent(event, AsyncEventType.SQ_DRAINED, pair.left.qp);
      event.acknowledge();
      assertQuiet(pair.left.context);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {INTERRUPTS, NO_INTERRUPTS})
  @Needs(Feature.CARD_EVENTS)
  void refusedRequestRaisesAnEventAtTheResponder(String parameters) throws Exception {
    RcSetup readOnly = new RcSetup().qpAccess(AccessFlag.REMOTE_READ);
    try (RcPair pair = readOnly.on(Fabric.inline(parameters))) {
      pair.left.qp.postSend(pair.write(0).sge(pair.left.buffer, 0, 8).signaled());
      assertThat(pair.left.sent().status()).isEqualTo(WcStatus.REM_INV_REQ_ERR);
      AsyncEvent event = next(pair.right.context);
      assertEvent(event, AsyncEventType.QP_REQ_ERR, pair.right.qp);
      assertThat(pair.right.qp.state()).isEqualTo(QpState.ERR);
      event.acknowledge();
      assertQuiet(pair.left.context);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {INTERRUPTS, NO_INTERRUPTS})
  @Needs(Feature.CARD_EVENTS)
  void refusedAccessMovesTheQueuePairToErrWithoutPolling(String parameters) throws Exception {
    try (RcPair pair = new RcSetup().on(Fabric.inline(parameters))) {
      pair.left.qp.postSend(
          pair.left
              .send
              .rdmaWrite(pair.right.address(0), pair.right.buffer.rkey() + 1)
              .sge(pair.left.buffer, 0, 8)
              .signaled());
      AsyncEvent event = next(pair.right.context);
      assertEvent(event, AsyncEventType.QP_ACCESS_ERR, pair.right.qp);
      assertThat(pair.right.qp.state()).isEqualTo(QpState.ERR);
      event.acknowledge();
      assertThat(pair.left.sent().status()).isEqualTo(WcStatus.REM_ACCESS_ERR);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {INTERRUPTS, NO_INTERRUPTS})
  @Needs(Feature.PORT_STATE)
  @VerbsCase(
      tier = Tier.IF_SUPPORTED,
      source = "test_mlx5_vfio.Mlx5VfioTrafficTest.test_mlx5vfio_async_event",
      says = "the port comes up: IBV_EVENT_PORT_ACTIVE within 2 s; goes down: IBV_EVENT_PORT_ERR")
  void portGoesUpAndDownWithTheOtherEndOfItsCable(String parameters) throws Exception {
    String name = "async-port" + parameters.length();
    String locator = TestProfile.model("model:%s-%s?cable=%s&mode=inline&sim=%s") + parameters;
    try (Simulation simulation = Simulation.inline(name);
        Context context = RdmaDevices.open(locator.formatted(name, "left", name, name));
        Context second = RdmaDevices.open(locator.formatted(name, "left", name, name))) {
      assertThat(simulation.isInline()).isTrue();
      for (int i = 0; i < 3; i++) {
        Context peer = RdmaDevices.open(locator.formatted(name, "right", name, name));
        assertPort(context, AsyncEventType.PORT_ACTIVE, PortState.ACTIVE);
        assertPort(second, AsyncEventType.PORT_ACTIVE, PortState.ACTIVE);
        peer.close();
        assertPort(context, AsyncEventType.PORT_ERR, PortState.DOWN);
        assertPort(second, AsyncEventType.PORT_ERR, PortState.DOWN);
      }
      assertThat(context.asyncEvents().poll()).isEmpty();
      assertThat(context.counters().asyncEvents()).isEqualTo(6);
    }
  }

  private static void assertPort(Context context, AsyncEventType type, PortState state)
      throws InterruptedException {
    AsyncEvent event = context.asyncEvents().await(LIMIT).orElseThrow();
    assertThat(event.type()).isEqualTo(type);
    assertThat(Events.object(event)).isEqualTo(1);
    event.acknowledge();
    assertThat(context.queryPort(1).state()).isEqualTo(state);
  }

  @ParameterizedTest
  @ValueSource(strings = {INTERRUPTS, NO_INTERRUPTS})
  @Needs(Feature.CARD_EVENTS)
  void errorOfAConnectionIsNotTakenForOneOfTheNext(String parameters) throws Exception {
    try (RcPair pair = new RcSetup().on(Fabric.inline(parameters))) {
      for (int i = 0; i < 30; i++) {
        pair.left.qp.postSend(
            pair.left
                .send
                .rdmaWrite(pair.right.address(0), pair.right.buffer.rkey() + 1)
                .sge(pair.left.buffer, 0, 8)
                .signaled());
        assertThat(pair.left.sent().status()).isEqualTo(WcStatus.REM_ACCESS_ERR);
        pair.left.qp.modify(QpAttributes.to(QpState.RESET));
        pair.right.qp.modify(QpAttributes.to(QpState.RESET));
        pair.connect(1000 + i, 2000 + i);
        AsyncEvent event = next(pair.right.context);
        assertEvent(event, AsyncEventType.QP_ACCESS_ERR, pair.right.qp);
        event.acknowledge();
        assertThat(pair.right.qp.state()).isEqualTo(QpState.RTS);
      }
    }
  }

  @Test
  @Needs({Feature.SQD, Feature.CARD_EVENTS})
  @VerbsCase(
      says = "an object with an event that was taken and not acknowledged: closing it is EBUSY")
  void objectIsNotClosedBeforeItsEventIsAcknowledged() throws Exception {
    try (RcPair pair = new RcSetup().on(Fabric.inline())) {
      pair.left.qp.modify(QpAttributes.to(QpState.SQD).sqdNotify(true));
      AsyncEvent event = next(pair.left.context);
      assertErrno(Errno.EBUSY, pair.left.qp::close, "IBV_EVENT_SQ_DRAINED");
      event.acknowledge();
      event.acknowledge();
      pair.left.qp.close();
    }
  }

  @Test
  @Needs({Feature.SQD, Feature.CARD_EVENTS})
  void untakenEventsAreDiscardedWithTheirObject() throws Exception {
    try (RcPair pair = new RcSetup().on(Fabric.inline())) {
      pair.left.qp.modify(QpAttributes.to(QpState.SQD).sqdNotify(true));
      long start = System.nanoTime();
      while (pair.left.context.counters().asyncEvents() < 2) { // that of the port is one
        assertThat(System.nanoTime() - start).isLessThan(LIMIT.toNanos());
        Thread.onSpinWait();
      }
      pair.left.qp.close();
      assertQuiet(pair.left.context);
    }
  }

  @Test
  @Needs({Feature.SQD, Feature.CARD_EVENTS})
  void futureTakesAnEventAndTheEndOfTheContextEndsIt() throws Exception {
    CompletableFuture<AsyncEvent> last;
    AsyncEvents events;
    try (RcPair pair = new RcSetup().on(Fabric.inline())) {
      assertQuiet(pair.left.context);
      events = pair.left.context.asyncEvents();
      CompletableFuture<AsyncEvent> future = events.next();
      pair.left.qp.modify(QpAttributes.to(QpState.SQD).sqdNotify(true));
      AsyncEvent event = future.get(LIMIT.toNanos(), TimeUnit.NANOSECONDS);
      assertEvent(event, AsyncEventType.SQ_DRAINED, pair.left.qp);
      event.acknowledge();
      last = events.next();
    }
    assertThatThrownBy(() -> last.get(LIMIT.toNanos(), TimeUnit.NANOSECONDS))
        .isInstanceOf(ExecutionException.class)
        .cause()
        .isInstanceOfSatisfying(
            VerbsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EINVAL));
    assertErrno(Errno.EINVAL, events::poll);
  }

  @Test
  @Needs({Feature.SQD, Feature.CARD_EVENTS})
  void polledDeviceReportsNoEventsThatOnlyTheCardDetects() throws Exception {
    try (RcPair pair = new RcSetup().on(Fabric.inline("&events=poll"))) {
      pair.left.qp.modify(QpAttributes.to(QpState.SQD).sqdNotify(true));
      assertThat(pair.left.context.asyncEvents().await(MOMENT)).isEmpty();
      assertThat(pair.left.qp.state()).isEqualTo(QpState.SQD);
    }
  }

  @Tag("loop")
  @Test
  @VerbsCase(
      tier = Tier.IF_SUPPORTED,
      source = "test_mlx5_vfio.Mlx5VfioTrafficTest.test_mlx5vfio_rc_qp_send_imm_traffic",
      says = "two RC queue pairs of one context, SEND_IMM, while a thread waits for events")
  void trafficInOneContextWhileAThreadWaitsForEvents() throws InterruptedException {
    try (Fabric fabric = Fabric.threaded()) {
      WrOpcode opcode =
          TestProfile.pick(Feature.SEND_WITH_IMMEDIATE, WrOpcode.SEND_WITH_IMM, WrOpcode.SEND);
      Context context = fabric.left();
      AtomicInteger others = new AtomicInteger();
      CountDownLatch interrupted = new CountDownLatch(1);
      Thread waiter =
          Thread.ofVirtual()
              .start(
                  () -> {
                    try {
                      while (true) {
                        AsyncEvent event = context.asyncEvents().await();
                        event.acknowledge();
                        if (event.type() != AsyncEventType.PORT_ACTIVE) {
                          others.incrementAndGet();
                        }
                      }
                    } catch (InterruptedException e) {
                      interrupted.countDown();
                    }
                  });
      RcSetup setup = new RcSetup();
      try (Side client = new Side(fabric, context, setup);
          Side server = new Side(fabric, context, setup)) {
        RcPair.connect(setup, client.qp, server.qp);
        Waiters.await(List.of(waiter));
        Transfer there = new Transfer(client, server, 1);
        Transfer back = new Transfer(server, client, 2);
        for (int i = 0; i < 100; i++) {
          there.run(opcode, Pieces.one(0, 1024), Pieces.one(0, 1024));
          back.run(opcode, Pieces.one(0, 1024), Pieces.one(0, 1024));
        }
      } finally {
        waiter.interrupt();
        waiter.join();
      }
      assertThat(interrupted.getCount()).as("whether it waited to the end").isZero();
      assertThat(others).as("events that are not of a port").hasValue(0);
      TestProfile.require(Feature.SEND_WITH_IMMEDIATE);
    }
  }

  @Test
  @VerbsCase(
      says = "SQD with notification: IBV_EVENT_SQ_DRAINED when all started requests have ended")
  @Needs({Feature.SQD, Feature.CARD_EVENTS})
  void drainedSendQueueRaisesAnEvent() {
    try (RcPair pair = new RcSetup().on(Fabric.inline())) {
      Side left = pair.left;
      // Started, and answered with an RNR NAK: no receive is posted.
      left.qp.postSend(left.send.wrId(1).send().sge(left.buffer, 0, 64).signaled());
      left.qp.modify(QpAttributes.to(QpState.SQD).sqdNotify(true));
      left.assertQuiet();
      assertThat(Events.poll(left.context)).isEmpty();
      pair.right.postReceive(2, 0, 64);
      Side.assertSuccess(left.sent());
      AsyncEvent event = Events.await(left.context);
      assertThat(event.type()).isEqualTo(AsyncEventType.SQ_DRAINED);
      assertThat(Events.object(event)).isSameAs(left.qp);
      event.acknowledge();
      left.assertQuiet();
      assertThat(Events.poll(left.context)).isEmpty();
    }
  }
}
