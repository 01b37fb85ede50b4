package org.hghca.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What the port of an RDMA card and that of a NIC take. */
class EthernetPortTest {
  private static final long MAC = 0x0200_0000_0001L;
  private static final long OTHER = 0x0200_0000_0002L;
  private static final long BROADCAST = 0xffff_ffff_ffffL;

  private final PacketPool pool = new PacketPool();
  private final EthernetPort port = new EthernetPort(MAC, pool);
  private final List<Packet> carried = new ArrayList<>();

  private Packet packet(boolean plain, long destination) {
    Packet packet = pool.take();
    packet.plain = plain;
    packet.destinationMac = destination;
    return packet;
  }

  private boolean takes(Packet packet) {
    port.deliver(packet);
    boolean taken = port.hasArrived();
    port.drain();
    return taken;
  }

  private boolean takes(boolean plain, long destination) {
    return takes(packet(plain, destination));
  }

  @Test
  void anRdmaPortDropsPlainFrames() {
    assertThat(takes(false, MAC)).isTrue();
    assertThat(takes(true, MAC)).isFalse();
    assertThat(takes(true, BROADCAST)).isFalse();
  }

  @Test
  void aNicTakesFramesAndPacketsToItsAddresses() {
    port.takeEverything(mac -> mac == BROADCAST);

    assertThat(takes(true, BROADCAST)).isTrue();
    assertThat(takes(false, BROADCAST)).isTrue();
    assertThat(takes(false, MAC)).isTrue();
    assertThat(takes(true, MAC)).isFalse();
    assertThat(takes(true, OTHER)).isFalse();
  }

  @Test
  void damagedFramesAreDropped() {
    port.takeEverything(mac -> true);
    Packet packet = packet(true, MAC);
    packet.damaged = true;

    assertThat(takes(packet)).isFalse();
    assertThat(port.damaged()).isEqualTo(1);
  }

  @Test
  void whatIsSentOutDoesNotComeBack() {
    port.takeEverything(mac -> true);
    port.transmitOut(packet(true, MAC)); // without a medium it goes nowhere
    port.plug(
        new Medium() {
          @Override
          public boolean isUp() {
            return true;
          }

          @Override
          public void carry(EthernetPort from, Packet packet) {
            carried.add(packet);
          }
        });

    port.transmitOut(packet(true, MAC));

    assertThat(port.hasArrived()).isFalse();
    assertThat(carried).hasSize(1);
  }
}
