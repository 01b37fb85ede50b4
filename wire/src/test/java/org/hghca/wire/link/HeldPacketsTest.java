package org.hghca.wire.link;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.hghca.wire.IpAddress;
import org.hghca.wire.Packet;
import org.hghca.wire.PacketPool;
import org.junit.jupiter.api.Test;

/** Packets for neighbors that are being resolved, at times that the test sets. */
class HeldPacketsTest {
  private static final int NEAR = 0x0a00_0002;
  private static final int SILENT = 0x0a00_0003;
  private static final long SECOND = 1_000_000_000L;

  private final HeldPackets held = new HeldPackets();
  private final Map<Long, Long> known = new HashMap<>();
  private final List<String> ended = new ArrayList<>();

  private boolean hold(int to, int psn, long now) {
    Packet packet = new PacketPool().take();
    packet.destinationIpv4(to);
    packet.psn = psn;
    return held.hold(packet, now);
  }

  /** What became of packets, as in {@code 7 to 02} or {@code 7 given up}. */
  private List<String> release(long now) {
    ended.clear();
    held.release(
        now,
        new HeldPackets.Destiny() {
          @Override
          public long resolve(long high, long low) {
            return known.getOrDefault(low, 0L);
          }

          @Override
          public void send(Packet packet, long mac) {
            ended.add("%d to %02x".formatted(packet.psn, mac));
          }

          @Override
          public void giveUp(Packet packet) {
            ended.add(packet.psn + " given up");
          }
        });
    return ended;
  }

  private void learn(int ip, long mac) {
    known.put(IpAddress.lowOfIpv4(ip), mac);
  }

  @Test
  void packetsOfAKnownNeighborLeaveInTheirOrder() {
    for (int psn = 0; psn < HeldPackets.MOST_OF_ONE; psn++) {
      assertThat(hold(psn % 2 == 0 ? NEAR : SILENT, psn, 0)).isTrue();
    }
    assertThat(release(1)).isEmpty();
    learn(NEAR, 2);
    List<String> sent = release(2);
    assertThat(sent).hasSize(HeldPackets.MOST_OF_ONE / 2);
    for (int i = 0; i < sent.size(); i++) {
      assertThat(sent.get(i)).isEqualTo("%d to 02", 2 * i);
    }
    assertThat(held.holdsFor(0, IpAddress.lowOfIpv4(NEAR))).isFalse();
    assertThat(held.holdsFor(0, IpAddress.lowOfIpv4(SILENT))).isTrue();
  }

  @Test
  void silentNeighborTakesNoRoomFromOthers() {
    for (int psn = 0; psn < HeldPackets.MOST_OF_ONE; psn++) {
      assertThat(hold(SILENT, psn, 0)).isTrue();
    }
    assertThat(hold(SILENT, 0, 0)).isFalse();
    for (int psn = 0; psn < 128; psn++) {
      assertThat(hold(NEAR, psn, 0)).as("packet %d of a window", psn).isTrue();
    }
  }

  @Test
  void thereIsALimitForAllNeighbors() {
    int kept = 0;
    for (int neighbor = 0; neighbor < 2 * HeldPackets.MOST; neighbor++) {
      kept += hold(NEAR + neighbor, 0, 0) ? 1 : 0;
    }
    assertThat(kept).isEqualTo(1024);
    assertThat(release(3 * SECOND)).hasSize(1024);
    assertThat(held.isEmpty()).isTrue();
    assertThat(hold(NEAR, 0, 0)).isTrue();
  }

  @Test
  void eachNeighborHasThreeSeconds() {
    hold(SILENT, 1, 0);
    hold(NEAR, 2, SECOND / 2);
    hold(SILENT, 3, SECOND / 2);
    assertThat(held.due()).isEqualTo(SECOND);
    assertThat(release(SECOND)).isEmpty();
    assertThat(held.due()).isEqualTo(SECOND + SECOND / 2);
    assertThat(release(3 * SECOND - 1)).isEmpty();
    assertThat(release(3 * SECOND)).containsExactly("1 given up", "3 given up");
    assertThat(release(3 * SECOND + SECOND / 2)).containsExactly("2 given up");
    assertThat(held.due()).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void clearGivesUpAll() {
    hold(SILENT, 1, 0);
    hold(NEAR, 2, 0);
    held.clear(packet -> ended.add(packet.psn + " cleared"));
    assertThat(ended).containsExactlyInAnyOrder("1 cleared", "2 cleared");
    assertThat(held.isEmpty()).isTrue();
    assertThat(held.due()).isEqualTo(Long.MAX_VALUE);
  }
}
