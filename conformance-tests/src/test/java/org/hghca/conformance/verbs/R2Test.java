package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.hghca.abi.HardwareProfile;
import org.hghca.conformance.profile.OnlyOn;
import org.hghca.verbs.Context;
import org.hghca.verbs.DeviceAttributes;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.Mtu;
import org.hghca.verbs.QpState;
import org.hghca.verbs.WrOpcode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The known behavior of the second RTL: it comes up, registers regions, and moves data of reliable
 * connections. Its unknown behavior depends on the seed, and one driver must work with all
 * variants.
 */
@OnlyOn(value = "r2", why = "the seed selects behavior that only the second RTL leaves unknown")
class R2Test {
  private static final int SEEDS = 24;
  private static final int REGIONS = 200;
  private static final int CONNECTIONS = 4;
  private static final int STEPS = 400;

  static LongStream seeds() {
    return LongStream.rangeClosed(1, SEEDS);
  }

  /** Two cards, or one that is its own peer; alternating with the seed. */
  private static Fabric fabric(long seed, boolean looped) {
    String parameters = "&seed=" + seed;
    return looped ? Fabric.looped(parameters) : Fabric.inline(parameters);
  }

  private static void assertUnharmed(Fabric fabric) {
    assertThat(fabric.hcas()).allSatisfy(hca -> assertThat(hca.hazards()).isEmpty());
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void deviceComesUpAndReportsItsLimits(long seed) {
    try (Fabric fabric = fabric(seed, false)) {
      for (Context context : List.of(fabric.left(), fabric.right())) {
        DeviceAttributes device = context.queryDevice();
        assertThat(device.maxQp()).isBetween(200, HardwareProfile.R2.qpnLimit());
        assertThat(device.maxCq()).isBetween(200, HardwareProfile.R2.cqnLimit());
        assertThat(context.queryPort(1).activeMtu()).isEqualTo(Mtu.MTU_4096);
      }
      assertUnharmed(fabric);
    }
  }

  /** Lengths up to several pages and some long ones; each region is written and read back. */
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void manyRegionsAreWrittenAndRead(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    try (RcPair pair = new RcSetup().on(fabric(seed, seed % 2 == 0))) {
      List<MemoryRegion> regions = new ArrayList<>();
      for (int i = 0; i < REGIONS; i++) {
        long length = 1L + random.nextInt(random.nextInt(8) == 0 ? 3 << 20 : 20_000);
        regions.add(pair.right.pd.allocate(length, Side.ALL));
        if (random.nextInt(4) == 0) {
          regions.remove(random.nextInt(regions.size())).close();
        }
      }
      assertThat(regions).extracting(MemoryRegion::rkey).doesNotHaveDuplicates();
      regions.forEach(region -> RegistrationTest.use(pair, region));
      assertUnharmed(pair.fabric);
      regions.forEach(MemoryRegion::close);
    }
  }

  /** One message at a time, of arbitrary parts: both completions and every byte of both buffers. */
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void eachMessageHasItsSpecifiedEffect(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    RcSetup setup = new RcSetup().sges(4).inline(128).mtu(Mtu.values()[random.nextInt(5)]);
    try (RcPair pair = setup.on(fabric(seed, seed % 2 == 0))) {
      Transfer rightward = new Transfer(pair.left, pair.right, seed);
      Transfer leftward = new Transfer(pair.right, pair.left, ~seed);
      for (int i = 0; i < 20; i++) {
        for (WrOpcode opcode : Transfer.possible(MessageSizeTest.OPCODES)) {
          int size = 1 + random.nextInt(1 + random.nextInt(16_000));
          Pieces one = Pieces.one(random.nextInt(1000), size);
          Pieces other = Pieces.one(random.nextInt(32) * 32L, size);
          boolean read = opcode == WrOpcode.RDMA_READ;
          (random.nextBoolean() ? rightward : leftward)
              .run(opcode, read ? other : one, read ? one : other);
        }
      }
      assertUnharmed(pair.fabric);
    }
  }

  /** Lists of requests in both directions of several connections at once, around all rings. */
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void manyConnectionsMoveDataAtOnce(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    try (Fabric fabric = fabric(seed, seed % 2 != 0)) {
      List<Side> sides = new ArrayList<>();
      List<Flow> flows = new ArrayList<>();
      for (int i = 0; i < CONNECTIONS; i++) {
        Mtu mtu = Mtu.values()[random.nextInt(5)];
        Flow.Plan plan = new Flow.Plan(600, 4 + random.nextInt(40), 700, 3 * mtu.bytes(), 0);
        RcSetup setup =
            new RcSetup()
                .depth(plan.depth())
                .bufferSize(plan.bufferSize())
                .mtu(mtu)
                .psns(RcSetup.randomPsn(random), RcSetup.randomPsn(random));
        Side left = new Side(fabric, fabric.left(), setup);
        Side right = new Side(fabric, fabric.right(), setup);
        sides.addAll(List.of(left, right));
        RcPair.connect(setup, left.qp, right.qp);
        var bytes = Flow.randomBytes(seed, plan.largestSize());
        flows.add(new Flow(plan, left, right, random.split(), bytes, "right " + i));
        flows.add(new Flow(plan, right, left, random.split(), bytes, "left " + i));
      }
      fabric.await(
          () -> {
            boolean moved = false;
            do {
              moved = false;
              for (Flow flow : flows) {
                moved |= flow.run();
              }
            } while (moved);
            return flows.stream().allMatch(Flow::isDone);
          },
          flows::toString);
      assertUnharmed(fabric);
      sides.forEach(Side::close);
    }
  }

  /** Queue pairs and regions are created and closed in between, and some end in ERR. */
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void randomProgramsMatchTheReference(long seed) {
    Fabric fabric = fabric(seed, seed % 2 == 0);
    try (ProgramRun run = new ProgramRun(fabric, seed)) {
      RandomProgram.of(seed, STEPS).steps().forEach(run::run);
      run.finish();
      assertUnharmed(fabric);
    }
  }

  /** The card's own thread runs the device, and the poster does not wait for it. */
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void randomProgramsMatchTheReferenceInTheThreadedSimulation(long seed) {
    try (ProgramRun run = new ProgramRun(Fabric.threaded("&seed=" + seed), seed)) {
      RandomProgram.of(~seed, STEPS / 4).steps().forEach(run::run);
      run.finish();
    }
  }

  /** A number is never reused: the position at which the card would continue is unknown. */
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void queuePairNumbersAreNeverReused(long seed) {
    List<Integer> used = new ArrayList<>();
    try (Fabric fabric = fabric(seed, seed % 2 == 0)) {
      fabric.mayRetire();
      for (int i = 0; i < 20; i++) {
        try (Side left = new Side(fabric, fabric.left(), new RcSetup());
            Side right = new Side(fabric, fabric.right(), new RcSetup())) {
          RcPair.connect(new RcSetup(), left.qp, right.qp);
          new Transfer(left, right, i).run(WrOpcode.SEND, Pieces.one(0, 100), Pieces.one(0, 100));
          left.postReceive(1, 0, 64);
          used.add(left.qp.number());
          assertThat(left.qp.state()).isEqualTo(QpState.RTS);
        }
      }
      assertThat(used).doesNotHaveDuplicates();
      assertUnharmed(fabric);
    }
  }
}
