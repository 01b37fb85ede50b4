package org.hghca.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MacTableTest {
  private final PacketPool pool = new PacketPool();
  private final EthernetPort one = new EthernetPort(1, pool);
  private final EthernetPort other = new EthernetPort(2, pool);
  private final MacTable table = new MacTable();

  @Test
  void addressIsAtThePortThatSentLast() {
    assertThat(table.find(5)).isNull();
    table.learn(5, one);
    table.learn(6, other);
    assertThat(table.find(5)).isSameAs(one);
    assertThat(table.find(6)).isSameAs(other);
    table.learn(5, other);
    assertThat(table.find(5)).isSameAs(other);
    table.clear();
    assertThat(table.find(5)).isNull();
  }

  @Test
  void groupAddressIsNotLearned() {
    assertThat(MacTable.isGroup(0xffff_ffff_ffffL)).isTrue();
    assertThat(MacTable.isGroup(0x0100_5e00_0001L)).isTrue();
    assertThat(MacTable.isGroup(0x0200_0000_0001L)).isFalse();
    table.learn(0xffff_ffff_ffffL, one);
    assertThat(table.find(0xffff_ffff_ffffL)).isNull();
  }

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 2, 3})
  void addressesAreIndependent(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    Map<Long, EthernetPort> known = new HashMap<>();
    while (known.size() < MacTable.CAPACITY) {
      long mac = random.nextBoolean() ? random.nextLong(1L << 40) : random.nextLong(4096);
      EthernetPort port = random.nextBoolean() ? one : other;
      table.learn(mac, port);
      known.put(mac, port);
    }
    known.forEach((mac, port) -> assertThat(table.find(mac)).isSameAs(port));
  }

  @Test
  void fullTableForgetsEntriesAndLearnsNewOnes() {
    for (long mac = 0; mac < 10 * MacTable.CAPACITY + 1; mac++) {
      table.learn(mac, one);
      assertThat(table.find(mac)).isSameAs(one);
    }
    assertThat(table.find(0)).isNull();
  }
}
