package org.hghca.driver.rtl.ring;

import static org.assertj.core.api.Assertions.assertThat;

import org.hghca.driver.memory.KeyedMemory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

public class KeyTableTest {
  private final KeyTable keys = new KeyTable(16);
  private final KeyedMemory entry = new KeyedMemory(0x0500_0003, 2, 0x7f00_0000_0123L, 100, 1);

  @Test
  public void keyIsFoundWhileRegisteredAndOnlyIfAllBitsMatch() {
    assertThat(keys.find(entry.key())).isNull();
    keys.put(entry);
    assertThat(keys.find(entry.key())).isSameAs(entry);
    assertThat(keys.find(0x0600_0003)).isNull();
    assertThat(keys.find(3)).isNull();
    keys.remove(entry.key());
    assertThat(keys.find(entry.key())).isNull();
  }

  @Test
  public void keyBeyondTheTableIsNotFound() {
    assertThat(keys.find(16)).isNull();
    assertThat(keys.find(-1)).isNull();
    assertThat(keys.find(Integer.MIN_VALUE | 0xff_ffff)).isNull();
  }

  @ParameterizedTest
  @CsvSource({
    "0, 100, true",
    "99, 1, true",
    "100, 1, false",
    "0, 101, false",
    "-1, 1, false",
    "-1, 102, false",
    "1, 100, false",
    "50, 2147483647, false",
  })
  public void memoryIsBoundedToTheByte(long offset, long bytes, boolean inside) {
    assertThat(entry.contains(entry.start() + offset, bytes)).isEqualTo(inside);
  }

  @Test
  public void addressesAtTheEndsOfTheRangeAreOutside() {
    for (long address : new long[] {0, -1, Long.MAX_VALUE, Long.MIN_VALUE, Long.MIN_VALUE + 100}) {
      assertThat(entry.contains(address, 1)).isFalse();
      assertThat(new KeyedMemory(1, 1, 0, 100, 1).contains(address, 1)).isEqualTo(address == 0);
    }
  }
}
