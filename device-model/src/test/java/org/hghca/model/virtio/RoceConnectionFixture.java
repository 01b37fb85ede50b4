package org.hghca.model.virtio;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.hghca.model.virtio.GuestDriver.Used;
import org.junit.jupiter.api.BeforeEach;

/** A reliable connection to a peer that never answers, by literal bytes. */
class RoceConnectionFixture extends RoceFixture {
  static final int SEND = 2;
  static final int SIGNALED = 2;
  static final int INLINE = 8;

  GuestDriver.Ring completions;
  GuestDriver.Ring sends;
  GuestDriver.Ring receives;
  int qp;

  @BeforeEach
  void connect() {
    qp = connectable(2);
    completions = driver.new Ring(3);
    sends = driver.new Ring(3 + 32 + 2 * qp);
    receives = driver.new Ring(3 + 32 + 2 * qp + 1);
    completions.enable();
    sends.enable();
    receives.enable();
    up(modify(qp, TO_RTR, 2, 3, 1));
  }

  private void up(String toRtr) {
    assertThat(does(10, modify(qp, 1 | ACCESS, 1, 3, 1))).isTrue();
    assertThat(does(10, toRtr)).isTrue();
    assertThat(does(10, modify(qp, TO_RTS, 3, 3, 1))).isTrue();
  }

  /** Connects the queue pair to itself. */
  void connectToItself() {
    StringBuilder mac = new StringBuilder();
    for (int i = 0; i < 6; i++) {
      mac.append(
          HexFormat.of().toHexDigits((byte) driver.registers.readByte(GuestDriver.DEVICE + i)));
    }
    assertThat(does(10, modify(qp, 1, 0, 3, 1))).isTrue();
    up(
        modify(qp, TO_RTR, 2, 3, 1)
            .replace("021122334402", mac)
            .replace(le(0x123456, 0x654321, 7), le(0x654321, 0x654321, qp)));
  }

  void buffersForCompletions(int count) {
    for (int i = 0; i < count; i++) {
      completions.offer(completions.room(48));
    }
  }

  /** An element of the send queue whose pieces follow. */
  static String request(int number, int opcode, int flags, int pieces) {
    return le(number, 0)
        + "%02x%02x0000".formatted(opcode, flags)
        + "00".repeat(560 - 12)
        + le(pieces)
        + "00".repeat(12);
  }

  void offer(String element) {
    sends.offer(sends.buffer(element, 0));
  }

  void post(String element) {
    offer(element);
    sends.kick();
  }

  void postReceive(int number) {
    receives.offer(receives.buffer(le(number, 0, 0, 0, 0, 0), 0));
  }

  /** Number, status and opcode of the completions since the last call. */
  List<String> completed() {
    List<String> found = new ArrayList<>();
    for (Used used : completions.used()) {
      assertThat(used.length()).isEqualTo(48);
      String entry = completions.content(used.id(), 48);
      assertThat(entry.substring(48, 56)).isEqualTo(le(qp));
      found.add(entry.substring(0, 2) + ":" + entry.substring(16, 18) + ":" + entry.charAt(19));
    }
    return found;
  }

  String state() {
    return command(11, le(qp, 1), 121).substring(2, 4);
  }
}
