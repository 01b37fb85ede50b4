package org.hghca.driver.object;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.hghca.driver.Failures.assertErrno;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.hghca.abi.Eqe;
import org.hghca.abi.EventType;
import org.hghca.driver.bringup.BringUp;
import org.hghca.driver.event.EventThread;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.AsyncEvent;
import org.hghca.verbs.AsyncEventType;
import org.hghca.verbs.CompletionChannel;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.CompletionQueueConfig;
import org.hghca.verbs.Errno;
import org.hghca.verbs.QpState;
import org.hghca.verbs.VerbsException;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunctions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The meaning of events, and the result for their waiters. */
class EventsTest {
  private static final Duration LIMIT = Duration.ofSeconds(20);

  private static EventThread dispatcher(DriverFixture it) {
    // Never started: the test reads the events itself.
    return thread(it);
  }

  /** Another thread that checks completion queues of a device. */
  static EventThread thread(DriverFixture it) {
    EventDispatcher targets =
        new EventDispatcher(it.device.objects(), it.device.contexts(), it.device.health());
    return new EventThread(it.device.card(), List.of(), null, null, targets, () -> {});
  }

  private static List<AsyncEvent> take(DriverFixture it) {
    List<AsyncEvent> events = new ArrayList<>();
    for (Optional<AsyncEvent> event = it.context.asyncEvents().poll();
        event.isPresent();
        event = it.context.asyncEvents().poll()) {
      event.get().acknowledge();
      events.add(event.get());
    }
    return events;
  }

  @Test
  void eachEntryIsReportedWithItsType() {
    try (DriverFixture it = new DriverFixture()) {
      it.connect();
      EventThread dispatcher = dispatcher(it);
      dispatcher.event(EventType.COMM_EST.code(), 0, it.qp.number());
      dispatcher.event(EventType.SQ_DRAINED.code(), 0, it.qp.number());
      assertThat(it.qp.state()).isNotEqualTo(QpState.ERR);
      dispatcher.event(EventType.WQ_CATAS_ERROR.code(), 0, it.qp.number());
      assertThat(it.qp.state()).isEqualTo(QpState.ERR);
      dispatcher.event(EventType.WQ_INVAL_REQ_ERROR.code(), 0, it.qp.number());
      dispatcher.event(EventType.WQ_ACCESS_ERROR.code(), 0, it.qp.number());
      dispatcher.event(EventType.CQ_ERROR.code(), 0, it.cq.number());
      dispatcher.event(EventType.PORT_CHANGE.code(), Eqe.SUBTYPE_PORT_DOWN, 1);
      dispatcher.event(EventType.PORT_CHANGE.code(), Eqe.SUBTYPE_PORT_UP, 1);
      List<AsyncEvent> events = take(it);
      assertThat(events)
          .extracting(AsyncEvent::type)
          .containsExactly(
              AsyncEventType.COMM_EST,
              AsyncEventType.SQ_DRAINED,
              AsyncEventType.QP_FATAL,
              AsyncEventType.QP_REQ_ERR,
              AsyncEventType.QP_ACCESS_ERR,
              AsyncEventType.CQ_ERR,
              AsyncEventType.PORT_ERR,
              AsyncEventType.PORT_ACTIVE);
      assertThat(events.get(5))
          .isInstanceOfSatisfying(
              AsyncEvent.OfCompletionQueue.class,
              e -> assertThat(e.completionQueue()).isSameAs(it.cq));
      assertThat(events.get(6))
          .isInstanceOfSatisfying(AsyncEvent.OfPort.class, e -> assertThat(e.port()).isEqualTo(1));
      assertThat(dispatcher.ignored()).isZero();
    }
  }

  @Test
  void entriesOfUnknownObjectsAreCountedAndIgnored() {
    try (DriverFixture it = new DriverFixture()) {
      EventThread dispatcher = dispatcher(it);
      dispatcher.event(Eqe.TYPE_COMPLETION, 0, 0x7fff_ffff);
      dispatcher.event(Eqe.TYPE_COMPLETION, 0, -1);
      dispatcher.event(EventType.COMM_EST.code(), 0, it.qp.number() + 1);
      dispatcher.event(EventType.COMM_EST.code(), 0, -1);
      dispatcher.event(EventType.CQ_ERROR.code(), 0, it.cq.number() + 1);
      dispatcher.event(EventType.PORT_CHANGE.code(), 2, 1);
      dispatcher.event(0x7e, 0, 0);
      dispatcher.event(0xff, 0xff, 0xffff);
      assertThat(dispatcher.ignored()).isEqualTo(8);
      assertThat(take(it)).isEmpty();
      assertThat(it.device.card().health().isDead()).isFalse();
    }
  }

  @Test
  void errorOfTheDeviceEndsItAndWakesAllWaiters() throws Exception {
    try (DriverFixture it = new DriverFixture()) {
      CompletionChannel channel = it.context.createCompletionChannel();
      CompletableFuture<CompletionQueue> waiting = channel.next();
      CompletableFuture<AsyncEvent> told = it.context.asyncEvents().next();
      dispatcher(it).event(EventType.LOCAL_CATAS_ERROR.code(), 0, 0);
      assertThat(told.get(20, TimeUnit.SECONDS).type()).isEqualTo(AsyncEventType.DEVICE_FATAL);
      assertThatThrownBy(() -> waiting.get(20, TimeUnit.SECONDS))
          .isInstanceOf(ExecutionException.class)
          .cause()
          .isInstanceOfSatisfying(
              VerbsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EIO))
          .hasMessageContaining("LOCAL_CATAS_ERROR");
      assertThatThrownBy(() -> channel.await(LIMIT)).hasMessageContaining("EIO");
      channel.close();
    }
  }

  @Test
  void removedCardIsReported() throws Exception {
    try (DriverFixture it = new DriverFixture()) {
      CompletableFuture<AsyncEvent> told = it.context.asyncEvents().next();
      it.function.lose();
      assertThatThrownBy(() -> it.context.queryPort(1)).hasMessageContaining("EIO");
      assertThat(told.get(20, TimeUnit.SECONDS).type()).isEqualTo(AsyncEventType.DEVICE_FATAL);
      // A program may still open a channel before it has read the end.
      assertThatThrownBy(it.context::createCompletionChannel).hasMessageContaining("EIO");
    }
  }

  @Test
  void newestEventsAreKept() {
    try (DriverFixture it = new DriverFixture()) {
      for (int i = 0; i < 5000; i++) {
        it.context.raise(i < 1000 ? AsyncEventType.COMM_EST : AsyncEventType.SQ_DRAINED, it.qp);
      }
      assertThat(take(it))
          .hasSize(4096)
          .first()
          .extracting(AsyncEvent::type)
          .isEqualTo(AsyncEventType.COMM_EST);
      assertThat(it.context.counters().asyncEvents()).isEqualTo(5000);
    }
  }

  @Test
  void unknownEventModeIsRefused() {
    FailingFunction function =
        new FailingFunction(
            PciFunctions.open(Locator.parse("model:events-x?mode=inline")),
            Locator.parse("model:events-x?mode=inline&events=x"));
    assertErrno(Errno.EINVAL, () -> BringUp.of(function)).hasMessageContaining("events=x");
    assertThat(function.isClosed()).isTrue();
    assertThat(function.mappingsAtClose()).isZero();
  }

  @Test
  void queueOfAnInvalidVectorLeavesNothingBehind() {
    try (DriverFixture it = new DriverFixture()) {
      int before = it.device.cqNumbers().inUse();
      assertThatThrownBy(
              () -> it.context.createCompletionQueue(CompletionQueueConfig.of(4).withVector(99)))
          .hasMessageContaining("vector 99")
          .hasMessageContaining("EINVAL");
      assertThat(it.device.cqNumbers().inUse()).isEqualTo(before);
    }
  }

  @Test
  void flightRecorderSeesRegistrationsTransitionsAndTheEnd(@TempDir Path directory)
      throws Exception {
    Path file = directory.resolve("driver.jfr");
    try (Recording recording = new Recording();
        DriverFixture it = new DriverFixture()) {
      recording.enable("hghca.MemoryRegistration").withoutThreshold();
      recording.enable("hghca.QueuePairTransition").withoutThreshold();
      recording.enable("hghca.DeviceFatal");
      recording.start();
      it.pd.allocate(8192, AccessFlag.LOCAL_WRITE).close();
      it.connect();
      it.device.card().health().fail("it burns");
      recording.stop();
      recording.dump(file);
      List<RecordedEvent> events = RecordingFile.readAllEvents(file);
      assertThat(named(events, "hghca.MemoryRegistration").getLong("bytes")).isEqualTo(8192);
      assertThat(named(events, "hghca.QueuePairTransition").getString("to")).isEqualTo("INIT");
      assertThat(named(events, "hghca.QueuePairTransition").getInt("qpn"))
          .isEqualTo(it.qp.number());
      assertThat(named(events, "hghca.DeviceFatal").getString("cause")).isEqualTo("it burns");
    }
  }

  private static RecordedEvent named(List<RecordedEvent> events, String name) {
    return events.stream()
        .filter(event -> event.getEventType().getName().equals(name))
        .min(Comparator.comparing(RecordedEvent::getStartTime))
        .orElseThrow(() -> new AssertionError("no " + name));
  }
}
