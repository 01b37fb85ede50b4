package org.hghca.driver.object;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.hghca.driver.event.EventThread;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.AsyncEvent;
import org.hghca.verbs.AsyncEventType;
import org.hghca.verbs.CompletionChannel;
import org.hghca.verbs.CompletionQueueConfig;
import org.hghca.verbs.Completions;
import org.hghca.verbs.Errno;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.RdmaDevice;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.VerbsException;
import org.junit.jupiter.api.Test;

/** Threads that race where the order matters. */
class RacesTest {
  private static final int LIMIT_MILLIS = 20_000;

  private static HghcaCompletionQueue queue(DriverFixture it, CompletionQueueConfig config) {
    return (HghcaCompletionQueue) it.context.createCompletionQueue(config);
  }

  /** Long enough for another thread to do what is not allowed yet. */
  private static void dawdle() {
    for (int i = 0; i < 1000; i++) {
      Thread.yield();
    }
  }

  private static Thread start(Runnable body) {
    return Thread.ofPlatform().daemon().start(body);
  }

  @Test
  void emptyPollDuringAnotherPollMeansAnEmptyQueue() throws Exception {
    int messages = 64;
    try (DriverFixture it = new DriverFixture();
        HghcaCompletionQueue cq = queue(it, CompletionQueueConfig.of(messages));
        MemoryRegion region = it.pd.allocate(8, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
        QueuePair qp = it.pd.createQueuePair(QueuePairConfig.rc(cq, it.cq).sendDepth(messages))) {
      it.connect(qp);
      SendRequest request =
          new SendRequest().rdmaWrite(region.address(), region.rkey()).sge(region, 0, 8).signaled();
      int shared = 0;
      for (int round = 0; round < 300 || shared < 20; round++) {
        for (int i = 0; i < messages; i++) {
          qp.postSend(request);
        }
        AtomicInteger ready = new AtomicInteger();
        AtomicInteger late = new AtomicInteger();
        AtomicInteger found = new AtomicInteger();
        CountDownLatch empty = new CountDownLatch(1);
        Consumer<AtomicInteger> poller =
            foundHere -> {
              Completions one = new Completions(1);
              for (ready.incrementAndGet(); ready.get() < 2; ) {
                Thread.onSpinWait();
              }
              while (true) {
                boolean wasEmpty = empty.getCount() == 0;
                if (cq.poll(one) == 0) {
                  break;
                }
                found.incrementAndGet();
                foundHere.incrementAndGet();
                late.addAndGet(wasEmpty ? 1 : 0);
              }
              empty.countDown();
            };
        AtomicInteger foundByOther = new AtomicInteger();
        Thread other = start(() -> poller.accept(foundByOther));
        poller.accept(new AtomicInteger());
        other.join(LIMIT_MILLIS);
        int others = foundByOther.get();
        shared += others > 0 && others < messages ? 1 : 0; // both polled the same messages
        assertThat(late).as("found behind an empty queue, round %d", round).hasValue(0);
        assertThat(found).hasValue(messages);
      }
    }
  }

  /** So many that some of them collide in whatever set the thread keeps them in. */
  @Test
  void threadThatChecksManyQueuesEndsOnRequest() throws Exception {
    try (DriverFixture it = new DriverFixture();
        CompletionChannel channel = it.context.createCompletionChannel()) {
      EventThread thread = EventsTest.thread(it);
      thread.start();
      List<HghcaCompletionQueue> queues = new ArrayList<>();
      for (int i = 0; i < 64; i++) {
        HghcaCompletionQueue queue =
            queue(it, CompletionQueueConfig.of(1).withRingEntries(2).withChannel(channel));
        queue.requestNotify(false);
        queues.add(queue);
        thread.requested(queue);
      }
      Thread stopping = start(thread::stop);
      stopping.join(LIMIT_MILLIS);
      boolean ended = !stopping.isAlive();
      queues.forEach(HghcaCompletionQueue::close);
      assertThat(ended).as("the thread has ended").isTrue();
    }
  }

  @Test
  void queueIsNotClosedBeforeEarlierEventsAreReported() throws Exception {
    try (DriverFixture it = new DriverFixture();
        CompletionChannel channel = it.context.createCompletionChannel();
        HghcaCompletionQueue told = queue(it, CompletionQueueConfig.of(4).withChannel(channel));
        MemoryRegion region = it.pd.allocate(8, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
        QueuePair qp = it.pd.createQueuePair(QueuePairConfig.rc(told, it.cq).sendDepth(4))) {
      it.connect(qp);
      HghcaCompletionQueue closed = queue(it, CompletionQueueConfig.of(1));
      told.requestNotify(false);
      AtomicReference<AsyncEvent> event = new AtomicReference<>();
      Thread closing =
          Thread.ofPlatform()
              .daemon()
              .unstarted(
                  () -> {
                    closed.close();
                    it.context.asyncEvents().poll().ifPresent(event::set);
                  });
      // Under the queue's lock, so that the event thread blocks at the first one.
      told.drop(
          it.qp.rings(),
          () -> {
            qp.postSend(
                new SendRequest()
                    .rdmaWrite(region.address(), region.rkey())
                    .sge(region, 0, 8)
                    .signaled());
            dawdle();
            qp.modify(QpAttributes.to(QpState.SQD).sqdNotify(true));
            closing.start();
            dawdle();
          });
      closing.join(LIMIT_MILLIS);
      assertThat(event.get()).isNotNull();
      assertThat(event.get().type()).isEqualTo(AsyncEventType.SQ_DRAINED);
      event.get().acknowledge();
    }
  }

  @Test
  void contextOfADeviceThatFailsMeanwhileIsNotOpened() throws Exception {
    try (DriverFixture it = new DriverFixture()) {
      int domains = it.device.pdNumbers().inUse();
      RdmaDevice name = new RdmaDevice("other", it.function.locator().toString(), 1);
      AtomicReference<Throwable> refusal = new AtomicReference<>();
      Thread opening =
          Thread.ofPlatform()
              .daemon()
              .unstarted(() -> new DeviceContext(name, it.device, () -> {}));
      opening.setUncaughtExceptionHandler((thread, failure) -> refusal.set(failure));
      // It has checked the device's health when it requests a domain.
      synchronized (it.device.pdNumbers()) {
        opening.start();
        while (opening.isAlive() && opening.getState() != Thread.State.BLOCKED) {
          Thread.onSpinWait();
        }
        it.device.card().health().fail("it burns");
      }
      opening.join(LIMIT_MILLIS);
      assertThat(refusal.get())
          .isInstanceOfSatisfying(
              VerbsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EIO));
      assertThat(it.device.contexts()).containsExactly(it.context);
      assertThat(it.device.pdNumbers().inUse()).isEqualTo(domains);
    }
  }
}
