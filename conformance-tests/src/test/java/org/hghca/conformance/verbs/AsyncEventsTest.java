package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.hghca.conformance.profile.Feature;
import org.hghca.conformance.profile.Needs;
import org.hghca.conformance.profile.TestProfile;
import org.hghca.conformance.profile.TestTime;
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
      pair.left.qp.postSend(
          pair.left
              .send
              .rdmaWrite(pair.right.address(0), pair.right.buffer.rkey())
              .sge(pair.left.buffer, 0, 8)
              .signaled());
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
  void objectIsNotClosedBeforeItsEventIsAcknowledged() throws Exception {
    try (RcPair pair = new RcSetup().on(Fabric.inline())) {
      pair.left.qp.modify(QpAttributes.to(QpState.SQD).sqdNotify(true));
      AsyncEvent event = next(pair.left.context);
      assertThatThrownBy(pair.left.qp::close)
          .isInstanceOfSatisfying(
              VerbsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EBUSY))
          .hasMessageContaining("IBV_EVENT_SQ_DRAINED");
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
    assertThatThrownBy(events::poll)
        .isInstanceOfSatisfying(
            VerbsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EINVAL));
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
}
