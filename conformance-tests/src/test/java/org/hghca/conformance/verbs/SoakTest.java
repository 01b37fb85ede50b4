package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.hghca.conformance.profile.Feature;
import org.hghca.conformance.profile.OnlyOn;
import org.hghca.conformance.profile.TestProfile;
import org.hghca.model.Disturbance;
import org.hghca.model.ModelProvider;
import org.hghca.model.SoftwareHca;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.Context;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.Mtu;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.vfio.Locator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;

/**
 * Long-running hostile traffic, with all objects created and closed in between: no resource grows.
 * By default some rounds; {@code -Dhghca.soak=PT10M} runs for ten minutes, and {@code
 * -Dhghca.soak.network=} names other locators of two ends than those over UDP.
 */
@Isolated("it counts what the process has")
class SoakTest {
  private static final Duration TIME = Duration.parse(System.getProperty("hghca.soak", "PT0S"));

  /** The two ends of a network; by default the kernel's UDP. */
  private static final List<String> NETWORK =
      Locator.list(
          System.getProperty(
              "hghca.soak.network",
              "model:soak-left?net=udp:127.0.6.51,model:soak-right?net=udp:127.0.6.52"));

  private static final String DISTURBANCE = "&drop=0.0005&duplicate=0.01&reorder=0.01";

  /** Rounds after which everything that is created once exists. */
  private static final int WARM_UP = 4;

  private static final int ROUNDS = 12;

  /**
   * Bytes by which the heap may differ from one collection to the next, independent of the run
   * time.
   */
  private static final long HEAP_SLACK = 8 << 20;

  /**
   * Descriptors that the JVM may open once at any time: a jar with the first class of it that is
   * needed, the sources of random numbers, a file that another thread reads. A descriptor that is
   * lost in each round gives more in {@link #WARM_UP} rounds.
   */
  private static final int DESCRIPTOR_SLACK = WARM_UP - 1;

  /** Resources of the process that must not grow. */
  private record Holdings(
      long heap, int mappings, int icmPages, List<String> descriptors, int threads) {

    static Holdings of(List<SoftwareHca> hcas) {
      int mappings = 0;
      int pages = 0;
      for (SoftwareHca hca : hcas) {
        pages += hca.icmPages();
        mappings += hca.dmaMappings();
      }
      return new Holdings(
          heapInUse(), mappings, pages, descriptorsInUse(), Thread.getAllStackTraces().size());
    }

    /** All but the files of counters, which appear half a second after a device was opened. */
    private static List<String> descriptorsInUse() {
      List<String> targets = new ArrayList<>();
      for (File descriptor : new File("/proc/self/fd").listFiles()) {
        try {
          String target = Files.readSymbolicLink(descriptor.toPath()).toString();
          if (!target.contains("/counters/")) {
            targets.add(target);
          }
        } catch (IOException _) {
          // that of the listing itself, closed by now
        }
      }
      return targets.stream().sorted().toList();
    }

    /**
     * The minimum of several collections: a single one may run before the latest objects are
     * unreachable.
     */
    private static long heapInUse() {
      long least = Long.MAX_VALUE;
      for (int i = 0; i < 3; i++) {
        System.gc();
        Runtime runtime = Runtime.getRuntime();
        least = Math.min(least, runtime.totalMemory() - runtime.freeMemory());
      }
      return least;
    }

    void assertNotGrown(Holdings since, String when) {
      assertThat(heap).as("bytes of heap %s", when).isLessThan(since.heap + HEAP_SLACK);
      assertThat(mappings).as("DMA mappings %s", when).isLessThanOrEqualTo(since.mappings);
      assertThat(icmPages).as("pages of ICM %s", when).isLessThanOrEqualTo(since.icmPages);
      assertThat(descriptors)
          .as("descriptors %s, before %s", when, since.descriptors)
          .hasSizeLessThanOrEqualTo(since.descriptors.size() + DESCRIPTOR_SLACK);
      assertThat(threads).as("threads %s", when).isLessThanOrEqualTo(since.threads);
    }
  }

  /** Its own option limits it, not the time-out of other tests. */
  @Test
  @Timeout(value = 7, unit = TimeUnit.DAYS)
  void resourcesDoNotGrowDuringLongRuns(TestReporter reporter) {
    try (Fabric fabric = Fabric.inline()) {
      soak(fabric, fabric.hcas(), reporter);
    }
  }

  /** The two ends over the kernel, which loses, duplicates and reorders nothing by itself. */
  @Test
  @Timeout(value = 7, unit = TimeUnit.DAYS)
  @OnlyOn(
      value = {"s", "virtio"},
      why = "the packets of the RTL are not RoCE's")
  void resourcesDoNotGrowOverANetwork(TestReporter reporter) {
    List<String> locators =
        NETWORK.stream().map(locator -> TestProfile.model(locator) + DISTURBANCE).toList();
    try (Fabric fabric = Fabric.on(locators.getFirst(), locators.getLast())) {
      soak(
          fabric,
          locators.stream()
              .map(locator -> ModelProvider.hca(Locator.parse(locator)).orElseThrow())
              .toList(),
          reporter);
    }
  }

  private static void soak(Fabric fabric, List<SoftwareHca> hcas, TestReporter reporter) {
    if (TestProfile.isVirtio()) {
      useEveryNumber(fabric.left());
      useEveryNumber(fabric.right());
    }
    int round = 0;
    for (; round < WARM_UP; round++) {
      round(fabric, hcas, round);
    }
    Holdings before = Holdings.of(hcas);
    assertThat(before.mappings).isPositive();
    long start = System.nanoTime();
    while (round < ROUNDS || System.nanoTime() - start < TIME.toNanos()) {
      round(fabric, hcas, round++);
      if (round % WARM_UP == 0) {
        Holdings.of(hcas).assertNotGrown(before, "after round " + round);
      }
    }
    reporter.publishEntry("after round " + WARM_UP, before.toString());
    reporter.publishEntry("after round " + round, Holdings.of(hcas).toString());
  }

  /** A virtqueue is set up with the first object that has its number, and stays. */
  private static void useEveryNumber(Context context) {
    List<CompletionQueue> queues = new ArrayList<>();
    List<QueuePair> pairs = new ArrayList<>();
    try (ProtectionDomain pd = context.allocateProtectionDomain()) {
      for (int i = context.queryDevice().maxCq(); i > 0; i--) {
        queues.add(context.createCompletionQueue(16));
      }
      CompletionQueue queue = queues.getFirst();
      for (int i = context.queryDevice().maxQp(); i > 0; i--) {
        pairs.add(pd.createQueuePair(QueuePairConfig.rc(queue, queue)));
      }
      pairs.forEach(QueuePair::close);
      queues.forEach(CompletionQueue::close);
    }
  }

  private static Disturbance hostile(SplittableRandom random) {
    return new Disturbance(
        random.nextDouble(0.03),
        random.nextDouble(0.1),
        random.nextDouble(0.1),
        random.nextDouble(0.005),
        random.nextDouble(0.3),
        Duration.ofNanos(100_000),
        random.nextLong());
  }

  /**
   * Some connections, one after the other, with memory regions registered and deregistered in
   * between.
   */
  private static void round(Fabric fabric, List<SoftwareHca> hcas, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    int timeout = hcas.getFirst().cable().isPresent() ? 6 : 16; // 262 us of virtual time, or 268 ms
    for (int i = 0; i < 3; i++) {
      Mtu mtu = Mtu.values()[random.nextInt(5)];
      Flow.Plan plan =
          new Flow.Plan(
              300,
              8 + random.nextInt(24),
              900,
              4 * mtu.bytes(),
              TestProfile.has(Feature.RNR_RETRY) ? random.nextInt(3) * 0.2 : 0);
      RcSetup setup =
          new RcSetup()
              .depth(plan.depth())
              .bufferSize(plan.bufferSize())
              .bufferAccess(Flow.ACCESS)
              .qpAccess(Flow.ACCESS)
              .mtu(mtu)
              .readAtomic(1 + random.nextInt(4))
              .psns(RcSetup.randomPsn(random), RcSetup.randomPsn(random))
              .retries(1, 7, timeout, 7);
      Disturbance disturbance =
          TestProfile.pick(Feature.LOSS_RECOVERY, hostile(random), Disturbance.NONE);
      hcas.getFirst().cable().ifPresent(cable -> cable.disturb(disturbance));
      try (Side left = new Side(fabric, fabric.left(), setup);
          Side right = new Side(fabric, fabric.right(), setup)) {
        RcPair.connect(setup, left.qp, right.qp);
        List<MemoryRegion> regions = new ArrayList<>();
        for (int j = random.nextInt(6); j >= 0; j--) {
          regions.add(left.pd.allocate(1 + random.nextInt(200_000), Side.ALL));
        }
        new HostileTraffic(fabric, left, right, plan, random.nextLong()).run();
        regions.forEach(MemoryRegion::close);
      }
    }
  }
}
