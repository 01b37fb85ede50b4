package org.hghca.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import org.junit.jupiter.api.Test;

class PacketTest {
  private final PacketPool pool = new PacketPool();

  @Test
  void copyHasEveryFieldAndThePayload() throws IllegalAccessException {
    Packet packet = pool.take();
    int value = 3;
    for (Field field : Packet.class.getFields()) {
      if (Modifier.isStatic(field.getModifiers())) {
        continue;
      }
      switch (field.getType().getName()) {
        case "long" -> field.setLong(packet, value++);
        case "int" -> field.setInt(packet, value++);
        case "boolean" -> field.setBoolean(packet, true);
        default -> throw new AssertionError("no value for " + field);
      }
    }
    packet.length = 100;
    for (int i = 0; i < packet.length; i++) {
      packet.payload().set(ValueLayout.JAVA_BYTE, i, (byte) (i + 1));
    }
    Packet copy = pool.copy(packet);
    for (Field field : Packet.class.getFields()) {
      assertThat(field.get(copy)).as("%s", field).isEqualTo(field.get(packet));
    }
    assertThat(copy.payload().asSlice(0, 100).mismatch(packet.payload().asSlice(0, 100)))
        .isEqualTo(-1);
    packet.payload().set(ValueLayout.JAVA_BYTE, 0, (byte) 99);
    assertThat(copy.payload().get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) 1);
  }

  @Test
  void portDropsAndCountsDamagedPackets() {
    EthernetPort port = new EthernetPort(5, pool);
    Packet packet = pool.take();
    packet.destinationMac = 5;
    packet.damaged = true;
    port.deliver(packet);
    assertThat(port.hasArrived()).isFalse();
    assertThat(port.damaged()).isEqualTo(1);
    Packet again = pool.take();
    assertThat(again).isSameAs(packet);
    assertThat(again.damaged).isFalse();
  }

  @Test
  void reusedPacketStartsLikeANewOne() throws IllegalAccessException {
    Packet used = pool.take();
    used.sourceIpHigh = 1;
    used.destinationIpv4(7);
    used.vlan = 5;
    used.hopLimit = 1;
    used.trafficClass = 3;
    used.flowLabel = 9;
    used.identification = 4;
    used.udpSourcePort = 0;
    used.partitionKey = 1;
    used.migrated = false;
    used.forwardCongestion = true;
    used.backwardCongestion = true;
    pool.giveBack(used);
    Packet again = pool.take();
    assertThat(again).isSameAs(used);
    Packet fresh = pool.take();
    for (Field field : Packet.class.getFields()) {
      assertThat(field.get(again)).as("%s", field).isEqualTo(field.get(fresh));
    }
    assertThat(fresh.vlan).isEqualTo(Packet.NO_VLAN);
    assertThat(fresh.hopLimit).isEqualTo(64);
    assertThat(fresh.partitionKey).isEqualTo(0xffff);
    assertThat(fresh.migrated).isTrue();
  }
}
