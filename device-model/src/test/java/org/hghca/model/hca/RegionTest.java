package org.hghca.model.hca;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import org.hghca.abi.Mpt;
import org.hghca.abi.MptFlags;
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
}
