package org.hghca.conformance.hostile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.File;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.hghca.abi.Eqe;
import org.hghca.abi.EventType;
import org.hghca.verbs.AsyncEvent;
import org.hghca.verbs.AsyncEventType;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.CompletionQueueConfig;
import org.hghca.verbs.Errno;
import org.hghca.verbs.QpState;
import org.hghca.verbs.VerbsException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The driver on devices that report events wrongly: too many, none, for unknown objects, or without
 * a cause. No thread waits indefinitely, the event thread continues or the device goes to the error
 * state with its cause, and closing leaves no thread, mapping or descriptor.
 */
@Isolated("it counts what the process has")
class HostileEventsTest {
  private static final int FLOOD = 100_000;
  private static final int LIMIT_SECONDS = 20;

  private final String name = Victim.newName();
  private EventForger forger;
  private Victim victim;
  private int descriptors;

  @BeforeEach
  void open() {
    HostileProvider.plan(name, Sabotage.NONE);
    victim = Victim.open(name);
    victim.exchange(); // with all classes loaded and files opened
    victim.closeAll();
    descriptors = descriptors();
    forger = new EventForger(name);
    HostileProvider.plan(name, forger);
    victim = Victim.open(name);
    victim.exchange();
    assertThat(forger.rings()).isGreaterThan(1);
  }

  @AfterEach
  void closingLeavesNothing() {
    Saboteur device = victim.device();
    victim.closeAll();
    assertThat(device.mappingsAtClose()).as("mappings").isZero();
    assertThat(threads()).as("threads").isZero();
    assertThat(descriptors()).as("descriptors").isLessThanOrEqualTo(descriptors);
    HostileProvider.plan(name, Sabotage.NONE);
    try (Victim next = Victim.open(name)) {
      next.exchange();
    }
    assertThat(HostileProvider.device(name).mappingsAtClose()).isZero();
  }

  private static int descriptors() {
    String[] open = new File("/proc/self/fd").list();
    return open == null ? 0 : open.length;
  }

  private long threads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.isAlive() && thread.getName().endsWith("-" + name))
        .count();
  }

  private static void await(BooleanSupplier done, String what) {
    long start = System.nanoTime();
    while (!done.getAsBoolean()) {
      if (System.nanoTime() - start > Duration.ofSeconds(LIMIT_SECONDS).toNanos()) {
        throw new AssertionError("no result in time: " + what);
      }
      Thread.onSpinWait();
    }
  }

  /** Forges an entry as soon as there is room for it. */
  private void forge(int ring, int type, int subtype, int data) {
    await(
        () -> {
          boolean done = forger.forge(ring, type, subtype, data);
          if (!done) {
            forger.interrupt(ring);
          }
          return done;
        },
        "no thread reads the event queue");
  }

  /** Any event except the one that reports a broken device. */
  private void forgeAny(SplittableRandom random) {
    int ring = random.nextInt(forger.rings());
    int type =
        switch (random.nextInt(3)) {
          case 0 -> random.nextInt(256);
          case 1 -> Eqe.TYPE_COMPLETION;
          default -> EventType.values()[random.nextInt(EventType.values().length)].code();
        };
    int data =
        switch (random.nextInt(5)) {
          case 0 -> random.nextInt();
          case 1 -> random.nextInt(1 << 16);
          case 2 -> victim.left.number();
          case 3 -> victim.sharer.number();
          default -> random.nextInt(8);
        };
    if (type != EventType.LOCAL_CATAS_ERROR.code()) {
      forge(ring, type, random.nextInt(256), data);
    }
  }

  /** Everything works after a reset of the queue pairs that were reported as failed. */
  private void assertWorksOn() {
    victim.reset();
    victim.exchange();
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void eventsOfUnknownObjectsAreIgnored(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    for (int i = 0; i < 2_000; i++) {
      forgeAny(random);
    }
    for (int ring = 0; ring < forger.rings(); ring++) {
      forger.interrupt(ring);
    }
    assertWorksOn();
    assertThat(threads()).isEqualTo(1);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void floodOfEventsBlocksNoThread(boolean garbage) throws Exception {
    AtomicBoolean over = new AtomicBoolean();
    AtomicInteger made = new AtomicInteger();
    int number = victim.left.number();
    Thread flood =
        Thread.ofPlatform()
            .daemon()
            .start(
                () -> {
                  SplittableRandom random = new SplittableRandom(7);
                  for (int i = 0; (i < FLOOD || made.get() < 20) && !over.get(); i++) {
                    if (garbage) {
                      forgeAny(random);
                    } else if (i % 2 == 0) {
                      forge(0, EventType.COMM_EST.code(), 0, number);
                    } else {
                      forge(1, Eqe.TYPE_COMPLETION, 0, i % 64);
                    }
                    if (i % 16 == 0) {
                      forger.interrupt(i / 16 % forger.rings());
                    }
                  }
                });
    try {
      for (int i = 0; flood.isAlive() || i < 20; i++) {
        try (CompletionQueue queue =
            victim.context.createCompletionQueue(
                CompletionQueueConfig.of(8).withChannel(victim.channel))) {
          queue.requestNotify(i % 2 == 0);
        }
        victim.remake();
        made.incrementAndGet();
      }
    } finally {
      over.set(true);
      flood.join(Duration.ofSeconds(LIMIT_SECONDS));
    }
    assertThat(flood.isAlive()).isFalse();
    assertWorksOn();
  }

  @Test
  void lostInterruptsOnlyDelay() {
    victim
        .device()
        .turn(
            new Sabotage() {
              @Override
              public int raise(int vector) {
                return 0;
              }
            });
    victim.exchange();
    victim.exchange();
  }

  static Stream<Named<Consumer<EventForger>>> noises() {
    return Stream.of(
        Named.of(
            "spurious interrupts",
            forger -> {
              forger.interrupt(1);
              Thread.yield();
            }),
        Named.of(
            "other events",
            forger -> {
              forger.forge(0, 0xee, 0, 0);
              forger.interrupt(0);
            }));
  }

  /** Completions that the device never reports are found, despite constant noise. */
  @ParameterizedTest
  @MethodSource("noises")
  void lostEventsOnlyDelayDespite(Consumer<EventForger> noise) throws Exception {
    victim
        .device()
        .turn(
            new Sabotage() {
              @Override
              public boolean dmaWrite(long iova, MemorySegment bytes) {
                return !forger.isEvent(iova);
              }
            });
    AtomicBoolean over = new AtomicBoolean();
    CountDownLatch begun = new CountDownLatch(1);
    Thread thread =
        Thread.ofPlatform()
            .daemon()
            .start(
                () -> {
                  while (!over.get()) {
                    noise.accept(forger);
                    begun.countDown();
                  }
                });
    try {
      begun.await();
      victim.exchange();
      assertThat(thread.isAlive()).isTrue();
    } finally {
      over.set(true);
      thread.join(Duration.ofSeconds(LIMIT_SECONDS));
    }
  }

  @Test
  void spuriousAndFrequentInterruptsDoNoHarm() {
    for (int i = 0; i < 10_000; i++) {
      victim.device().raise(i % 64);
    }
    victim
        .device()
        .turn(
            new Sabotage() {
              @Override
              public int raise(int vector) {
                return 1_000;
              }
            });
    victim.exchange();
  }

  @Test
  void completionEventsOfDestroyedQueuesAreIgnored() {
    for (int i = 0; i < 500; i++) {
      CompletionQueue queue =
          victim.context.createCompletionQueue(
              CompletionQueueConfig.of(4).withChannel(victim.channel));
      queue.requestNotify(false);
      int cqn = i % 64;
      forge(1, Eqe.TYPE_COMPLETION, 0, cqn);
      forge(0, EventType.CQ_ERROR.code(), 0, cqn);
      forger.interrupt(1);
      queue.close();
      forge(1, Eqe.TYPE_COMPLETION, 0, cqn);
      forge(0, EventType.CQ_ERROR.code(), 0, cqn);
      forger.interrupt(0);
    }
    assertWorksOn();
  }

  /** A forged event costs the queue pair its connection, and no more. */
  @ParameterizedTest
  @ValueSource(ints = {0x05, 0x10, 0x11})
  void queuePairReportedAsFailedWorksAgainAfterReset(int type) throws Exception {
    while (victim.context.asyncEvents().poll().isPresent()) {
      // from before
    }
    forge(0, type, 0, victim.left.number());
    forger.interrupt(0);
    AsyncEvent event =
        victim.context.asyncEvents().await(Duration.ofSeconds(LIMIT_SECONDS)).orElseThrow();
    assertThat(event)
        .isInstanceOfSatisfying(
            AsyncEvent.OfQueuePair.class, e -> assertThat(e.queuePair()).isSameAs(victim.left));
    assertThat(event.type())
        .isIn(AsyncEventType.QP_FATAL, AsyncEventType.QP_REQ_ERR, AsyncEventType.QP_ACCESS_ERR);
    event.acknowledge();
    assertThat(victim.left.state()).isEqualTo(QpState.ERR);
    assertWorksOn();
  }

  @Test
  void waitersAreWokenWhenADeviceReportsThatItIsBroken() {
    var waiting = victim.channel.next();
    forge(0, EventType.LOCAL_CATAS_ERROR.code(), 0, 0);
    forger.interrupt(0);
    assertThatThrownBy(() -> waiting.orTimeout(LIMIT_SECONDS, TimeUnit.SECONDS).join())
        .isInstanceOf(CompletionException.class)
        .cause()
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("LOCAL_CATAS_ERROR");
    assertEnded("LOCAL_CATAS_ERROR");
  }

  /** Waiters get an error that the device failed, with the cause. */
  private void assertEnded(String cause) {
    VerbsException told =
        catchThrowableOfType(
            VerbsException.class, () -> victim.channel.await(Duration.ofSeconds(LIMIT_SECONDS)));
    assertThat(told).isNotNull();
    assertThat(told.errno()).isEqualTo(Errno.EIO);
    assertThat(told).hasMessageContaining(cause).hasMessageContaining(name);
    AsyncEvent fatal = null;
    for (var e = victim.context.asyncEvents().poll();
        e.isPresent();
        e = victim.context.asyncEvents().poll()) {
      fatal = e.get();
      fatal.acknowledge();
    }
    assertThat(fatal).isNotNull();
    assertThat(fatal.type()).isEqualTo(AsyncEventType.DEVICE_FATAL);
    assertThatThrownBy(() -> victim.context.createCompletionQueue(1))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining(cause);
  }

  /** After an entry that neither side owns, no side would read again. */
  @ParameterizedTest
  @ValueSource(ints = {0x01, 0x7f, 0x81, 0xff})
  void unknownOwnerEndsTheDevice(int owner) {
    forger.forge(0, 0, 0, 0, owner);
    forger.interrupt(0);
    assertEnded("owner byte 0x%02x".formatted(owner));
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
  void overwrittenEventMemoryHangsNoThread(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    try {
      for (int i = 0; i < 200; i++) {
        for (int n = random.nextInt(3); n > 0; n--) {
          forger.scribble(random);
        }
        forger.interrupt(random.nextInt(forger.rings()));
        victim.told.requestNotify(random.nextBoolean());
        victim.tryOthers();
      }
      assertWorksOn();
    } catch (VerbsException e) {
      assertThat(e.errno()).as("%s", e).isIn(Errno.EIO, Errno.EINVAL, Errno.ENOMEM);
      assertThat(e.errno() != Errno.EIO || e.getMessage().contains(name)).isTrue();
    }
  }
}
