package org.hghca.model.hca;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.List;
import org.hghca.abi.Mpt;
import org.hghca.abi.MptFlags;
import org.hghca.model.transport.MemoryAccess;
import org.junit.jupiter.api.Test;

/** When an entry that was read is used without another look. */
class RegionTest {
  private static final int KEY = 0x0600_0001;
  private static final long EPOCH = 5;

  private final MemorySegment entry = MemorySegment.ofArray(new long[16]);
  private final Region region = new Region();

  @Test
  void isGoodInItsEpoch() {
    Mpt.KEY.set(entry, KEY);
    region.load(entry, EPOCH);
    assertThat(region.isGood(KEY, EPOCH)).isTrue();
    assertThat(region.isGood(KEY, EPOCH + 1)).isFalse();
    assertThat(region.isGood(KEY + 1, EPOCH)).isFalse();
  }

  @Test
  void isNotGoodWhereSoftwareOwnsTheEntry() {
    Mpt.KEY.set(entry, KEY);
    Mpt.FLAGS.set(entry, MptFlags.SW_OWNS);
    region.load(entry, EPOCH);
    assertThat(region.isOf(KEY)).isFalse();
    assertThat(region.isGood(KEY, EPOCH)).isFalse();
  }

  @Test
  void regionOfQueuesPermitsNothingToPackets() {
    Mpt.FLAGS.set(entry, MptFlags.LOCAL_WRITE | MptFlags.REMOTE_WRITE | MptFlags.QUEUE_ONLY);
    region.load(entry, EPOCH);
    for (MemoryAccess access : MemoryAccess.values()) {
      assertThat(region.permits(access)).as(access.name()).isFalse();
    }
    assertThat(region.has(MemoryAccess.LOCAL_WRITE)).isTrue();
    assertThat(region.has(MemoryAccess.REMOTE_READ)).isFalse();
  }

  @Test
  void regionOfQueuesServesEveryDomain() {
    Mpt.PD.set(entry, 3);
    region.load(entry, EPOCH);
    assertThat(region.mayHoldQueuesOf(3)).isTrue();
    assertThat(region.mayHoldQueuesOf(4)).as("a program's memory").isFalse();
    Mpt.FLAGS.set(entry, MptFlags.QUEUE_ONLY);
    region.load(entry, EPOCH);
    assertThat(region.mayHoldQueuesOf(4)).isTrue();
    assertThat(region.isIn(4)).isFalse();
  }

  @Test
  void eachFlagPermitsItsAccess() {
    Mpt.FLAGS.set(entry, MptFlags.REMOTE_READ);
    region.load(entry, EPOCH);
    assertThat(permitted()).containsExactly(MemoryAccess.LOCAL_READ, MemoryAccess.REMOTE_READ);
    Mpt.FLAGS.set(entry, MptFlags.LOCAL_WRITE | MptFlags.REMOTE_WRITE | MptFlags.REMOTE_ATOMIC);
    region.load(entry, EPOCH);
    assertThat(permitted())
        .containsExactly(
            MemoryAccess.LOCAL_READ,
            MemoryAccess.LOCAL_WRITE,
            MemoryAccess.REMOTE_WRITE,
            MemoryAccess.REMOTE_ATOMIC);
  }

  private List<MemoryAccess> permitted() {
    return Arrays.stream(MemoryAccess.values()).filter(region::permits).toList();
  }

  /** Without windows an entry is loaded for each access. */
  @Test
  void loadAllocatesNothing() {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    region.load(entry, EPOCH);
    threads.getCurrentThreadAllocatedBytes();
    long before = threads.getCurrentThreadAllocatedBytes();
    for (int i = 0; i < 1000; i++) {
      region.load(entry, EPOCH);
    }
    assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(1000);
  }
}
