package org.hghca.programs.pingpong;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import java.util.stream.IntStream;
import org.hghca.programs.OfferingDevice;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.ConnectionOptions;
import org.hghca.verbs.Context;
import org.hghca.verbs.Gid;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QpEndpoint;
import org.hghca.verbs.QpType;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.RdmaDevices;
import org.hghca.verbs.WrapMemory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LaneTest {
  private static final WrapMemory OURS = new WrapMemory(1, 0, 4096);
  private static final WrapMemory THEIRS = new WrapMemory(2, 0, 4096);

  /** A queue pair, and the memory of its messages. */
  private interface Trial {
    void with(QueuePair pair, MemoryRegion memory);
  }

  private static void make(Context context, Trial trial) {
    try (ProtectionDomain pd = context.allocateProtectionDomain();
        MemoryRegion memory = pd.allocate(64, AccessFlag.LOCAL_WRITE);
        CompletionQueue cq = context.createCompletionQueue(4);
        QueuePair pair = pd.createQueuePair(QueuePairConfig.rc(cq, cq))) {
      trial.with(pair, memory);
    }
  }

  private static Lane lane(QueuePair pair, MemoryRegion memory) {
    return new Lane(pair, QpType.RC, "QP", memory.slice(0, 64));
  }

  /** 64 that are below 2^16 by chance are one case of 2^512. */
  @ParameterizedTest
  @ValueSource(strings = {"r1", "s"})
  void psnsStartLowWhereTheyDoNotWrap(String profile) {
    try (Context context = RdmaDevices.open("model:lane-psn?profile=" + profile)) {
      make(
          context,
          (pair, memory) -> {
            int or =
                IntStream.range(0, 64)
                    .map(_ -> lane(pair, memory).address(0, Gid.NONE).psn())
                    .reduce(0, (a, b) -> a | b);
            assertThat(or).isPositive().isLessThan(1 << 24);
            assertThat(or < 1 << 16).isEqualTo(profile.equals("r1"));
          });
    }
  }

  @Test
  void memoryIsOfferedAndTaken() {
    try (Context real = RdmaDevices.open("model:lane-offers?profile=r1")) {
      OfferingDevice device = new OfferingDevice(real, Optional.of(OURS));
      make(
          device.context(),
          (pair, memory) -> {
            Lane lane = lane(pair, memory);
            Gid gid = real.queryGid(1, 0);
            assertThat(lane.address(0, gid).wrapMemory()).contains(OURS);
            ConnectionOptions options = ConnectionOptions.DEFAULT;
            pair.modify(options.toInit(QpType.RC));
            lane.connect(options, new QpEndpoint(0, pair.number(), 1, gid, Optional.of(THEIRS)));
            assertThat(device.taken()).containsExactly(THEIRS);
          });
    }
  }

  @Test
  void peerWithoutMemoryGivesNone() {
    try (Context real = RdmaDevices.open("model:lane-plain?profile=r1")) {
      OfferingDevice device = new OfferingDevice(real, Optional.empty());
      make(
          device.context(),
          (pair, memory) -> {
            Lane lane = lane(pair, memory);
            Gid gid = real.queryGid(1, 0);
            assertThat(lane.address(0, gid).wrapMemory()).isEmpty();
            pair.modify(ConnectionOptions.DEFAULT.toInit(QpType.RC));
            lane.connect(ConnectionOptions.DEFAULT, new QpEndpoint(0, pair.number(), 1, gid));
            assertThat(device.taken()).isEmpty();
          });
    }
  }
}
