package org.hghca.vfio.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.hghca.vfio.testing.Failures.assertReason;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.hghca.linux.Linux;
import org.hghca.linux.LinuxErrno;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Signaled as the kernel does: by a write to the eventfd. */
class EventInterruptsTest {
  private static final long LONG = TimeUnit.SECONDS.toNanos(30);

  private final TamperedCalls tampered = new TamperedCalls();
  private final List<String> losses = new ArrayList<>();
  private final EventInterrupts interrupts = interrupts(3);

  private EventInterrupts interrupts(int vectors) {
    return new EventInterrupts(tampered.calls, vectors, losses::add);
  }

  @AfterEach
  void close() {
    interrupts.close();
  }

  private static void signal(int descriptor) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment one = arena.allocate(ValueLayout.JAVA_LONG);
      one.set(ValueLayout.JAVA_LONG, 0, 1);
      assertThat(Linux.system().write(descriptor, one)).isEqualTo(8);
    }
  }

  private void signalVector(int vector) {
    signal(interrupts.descriptors()[vector]);
  }

  private void assertLost(String... message) {
    assertReason(Reason.CLOSED, () -> interrupts.await(LONG)).hasMessageContainingAll(message);
  }

  /** Waits until another thread is in {@code epoll_wait}. */
  private void awaitWaiter() {
    while (!tampered.names.contains("epollWait")) {
      Thread.onSpinWait();
    }
  }

  @Test
  void everyVectorHasAnEventOfItsOwn() throws IOException {
    int[] descriptors = interrupts.descriptors();

    assertThat(interrupts.vectors()).isEqualTo(3);
    assertThat(descriptors).hasSize(3).doesNotHaveDuplicates();
    for (int descriptor : descriptors) {
      assertThat(Files.readSymbolicLink(Path.of("/proc/self/fd/" + descriptor)).toString())
          .contains("eventfd");
      assertThat(Files.readString(Path.of("/proc/self/fdinfo/" + descriptor)))
          .containsPattern("flags:\\s+02\\d{6}\\s"); // O_CLOEXEC
    }
  }

  @Test
  void firedVectorsAreBitsReportedOnce() {
    signalVector(2);
    signalVector(0);
    signalVector(0);

    assertThat(interrupts.await(LONG)).isEqualTo(0b101);
    assertThat(interrupts.await(0)).isZero();
    signalVector(1);
    assertThat(interrupts.await(0)).isEqualTo(0b010);
  }

  @Test
  void everySignalIsCountedByVector() {
    signalVector(2);
    signalVector(0);
    signalVector(0);
    assertThat(interrupts.counts()).containsExactly(0, 0, 0);

    long _ = interrupts.await(LONG);
    signalVector(0);
    long _ = interrupts.await(LONG);

    assertThat(interrupts.counts()).containsExactly(3, 0, 1);
    assertThat(interrupts.count(0)).isEqualTo(3);
  }

  @Test
  void all64VectorsCanFireAtOnceAndMoreAreNotUsed() {
    try (EventInterrupts many = interrupts(2048)) {
      assertThat(many.vectors()).isEqualTo(64);
      assertThat(many.descriptors()).hasSize(64);
      many.addLoss("unused");
      IntStream.of(many.descriptors()).forEach(EventInterruptsTest::signal);
      assertThat(many.await(LONG)).isEqualTo(-1L);
    }
  }

  @Test
  void functionWithoutVectorsCanBeAwaited() {
    try (EventInterrupts none = interrupts(0)) {
      assertThat(none.descriptors()).isEmpty();
      assertThat(none.await(0)).isZero();
      none.wake();
      assertThat(none.await(LONG)).isZero();
    }
  }

  @Test
  void signalEndsAWait() throws Exception {
    try (ExecutorService executor = Executors.newSingleThreadExecutor()) {
      Future<Long> bits = executor.submit(() -> interrupts.await(LONG));
      awaitWaiter();
      signalVector(1);
      assertThat(bits.get()).isEqualTo(0b010);
    }
  }

  @Test
  void wakeEndsTheCurrentOrTheNextWaitOnce() throws Exception {
    interrupts.wake();
    interrupts.wake();
    assertThat(interrupts.await(LONG)).isZero();
    try (ExecutorService executor = Executors.newSingleThreadExecutor()) {
      tampered.names.clear();
      Future<Long> bits = executor.submit(() -> interrupts.await(LONG));
      awaitWaiter();
      interrupts.wake();
      assertThat(bits.get()).isZero();
    }
    long start = System.nanoTime();
    assertThat(interrupts.await(1_000_000)).isZero();
    assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(1_000_000);
  }

  @Test
  void wakeHidesNoVectorAndIsNotLost() {
    signalVector(0);
    interrupts.wake();

    assertThat(interrupts.await(LONG)).isEqualTo(1);
    assertThat(interrupts.await(LONG)).isZero();
  }

  @ParameterizedTest
  @CsvSource({
    "0,0",
    "-1,0",
    "1,1",
    "999999,1",
    "1000000,1",
    "1000001,2",
    "2500000,3",
    "9223372036854775807,2147483647",
    "-9223372036854775808,0"
  })
  void timeIsRoundedUpToMilliseconds(long nanos, int millis) {
    AtomicInteger asked = new AtomicInteger();
    tampered.answer(
        "epollWait",
        arguments -> {
          asked.set((int) arguments[2]);
          interrupts.wake();
          return null;
        });

    assertThat(interrupts.await(nanos)).isZero();

    assertThat(asked).hasValue(millis);
  }

  @Test
  void waitInterruptedByASignalHandlerContinues() {
    AtomicInteger calls = new AtomicInteger();
    tampered.answer(
        "epollWait",
        arguments -> {
          assertThat((int) arguments[2]).isPositive();
          if (calls.incrementAndGet() < 3) {
            return -LinuxErrno.EINTR.number();
          }
          signalVector(2);
          return null;
        });

    assertThat(interrupts.await(LONG)).isEqualTo(0b100);
    assertThat(calls).hasValue(3);
  }

  @Test
  void interruptedThreadOnlyPolls() {
    Thread.currentThread().interrupt();
    assertThat(interrupts.await(LONG)).isZero();
    signalVector(0);
    assertThat(interrupts.await(LONG)).isEqualTo(1);
    assertThat(Thread.interrupted()).isTrue();
  }

  @Test
  void errorAndRequestEventsEndEveryWait() {
    int unplugged = interrupts.addLoss("unplugged");
    int failed = interrupts.addLoss("a PCIe error");
    signalVector(0);
    assertThat(interrupts.await(LONG)).isEqualTo(1);
    signalVector(1);
    signal(failed);

    assertLost("a PCIe error");
    signal(unplugged);
    assertLost("a PCIe error");

    assertThat(losses).containsExactly("a PCIe error");
  }

  @Test
  void anyThreadCanReportALoss() throws Exception {
    try (ExecutorService executor = Executors.newSingleThreadExecutor()) {
      Future<?> waiter = executor.submit(() -> assertLost("the server is gone"));
      awaitWaiter();
      interrupts.lost("the server is gone");
      interrupts.lost("later news");
      waiter.get();
    }
    assertThat(losses).containsExactly("the server is gone");
    assertThatCode(interrupts::wake).doesNotThrowAnyException();
  }

  @Test
  void listenerOfALossMayClose() {
    List<EventInterrupts> self = new ArrayList<>();
    EventInterrupts other =
        new EventInterrupts(tampered.calls, 1, cause -> self.getFirst().close());
    self.add(other);
    signal(other.addLoss("unplugged"));

    assertThatThrownBy(() -> other.await(LONG)).hasMessageContaining("unplugged");
  }

  @Test
  void closingEndsAWaitAndClosesEveryDescriptor() throws Exception {
    int lossEvent = interrupts.addLoss("unused");
    List<Path> descriptors = new ArrayList<>();
    IntStream.concat(IntStream.of(interrupts.descriptors()), IntStream.of(lossEvent))
        .forEach(descriptor -> descriptors.add(Path.of("/proc/self/fd/" + descriptor)));
    assertThat(descriptors).allMatch(Files::isSymbolicLink);
    try (ExecutorService executor = Executors.newSingleThreadExecutor()) {
      Future<?> waiter = executor.submit(() -> assertLost("closed"));
      awaitWaiter();
      interrupts.close();
      waiter.get();
    }

    interrupts.close();
    interrupts.wake();
    interrupts.lost("too late");
    assertThat(tampered.names.stream().filter("close"::equals)).hasSize(3 + 1 + 1 + 1);
    assertThatThrownBy(() -> interrupts.await(0)).isInstanceOf(VfioException.class);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2})
  void failureWithoutDescriptorsLeavesNothingOpen(int made) {
    TamperedCalls failing = new TamperedCalls();
    AtomicInteger calls = new AtomicInteger();
    failing.answer(
        "eventfd",
        arguments ->
            calls.getAndIncrement() < made ? null : (Object) (-LinuxErrno.EMFILE.number()));

    assertReason(Reason.NO_MEMORY, () -> new EventInterrupts(failing.calls, 2, cause -> {}))
        .hasMessageContainingAll("EMFILE", "ulimit -n");

    assertThat(failing.names.stream().filter("close"::equals)).hasSize(made + 1);
    failing.fail("epollCreate", LinuxErrno.ENFILE);
    assertThatThrownBy(() -> new EventInterrupts(failing.calls, 2, cause -> {}))
        .hasMessageContaining("ENFILE");
  }

  @Test
  void closedDescriptorIsNeverUsed() throws Exception {
    // Were a closed descriptor used, the call would fail, or reach the file that reuses its number.
    tampered.answer(
        "write",
        arguments -> {
          assertThat(Linux.system().write((int) arguments[0], (MemorySegment) arguments[1]))
              .isEqualTo(8);
          return 8L;
        });
    try (ExecutorService executor = Executors.newFixedThreadPool(2)) {
      for (int round = 0; round < 300; round++) {
        EventInterrupts other = interrupts(1);
        AtomicInteger waits = new AtomicInteger();
        AtomicInteger wakes = new AtomicInteger();
        AtomicBoolean over = new AtomicBoolean();
        Future<?> waiter =
            executor.submit(
                () ->
                    assertThatThrownBy(
                            () -> {
                              while (other.await(LONG) == 0) {
                                waits.incrementAndGet();
                              }
                            })
                        .isInstanceOf(VfioException.class)
                        .hasMessageContaining("closed"));
        Future<?> waker =
            executor.submit(
                () -> {
                  while (!over.get()) {
                    other.wake();
                    wakes.incrementAndGet();
                  }
                });
        int before = round % 50; // at a different moment each time
        while (waits.get() == 0 || wakes.get() <= before) {
          Thread.onSpinWait();
        }
        other.close();
        int atClose = wakes.get();
        waiter.get();
        while (wakes.get() <= atClose) {
          Thread.onSpinWait(); // one more began and ended after the close
        }
        over.set(true);
        waker.get();
      }
    }
  }
}
