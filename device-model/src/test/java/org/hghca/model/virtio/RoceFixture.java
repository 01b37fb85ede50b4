package org.hghca.model.virtio;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HexFormat;
import org.junit.jupiter.api.AfterEach;

/** A card with RoCE and a driver that gives commands by literal bytes. */
class RoceFixture {
  static final String GID_1 = "fe800000000000000011223344550001";
  static final int ACCESS = 1 << 2;
  static final int TO_RTR = 1 | 1 << 4 | 1 << 5 | 1 << 9 | 1 << 11 | 1 << 13 | 1 << 15;
  static final int TO_RTS = 1 | 1 << 6 | 1 << 7 | 1 << 8 | 1 << 10 | 1 << 12;

  final GuestDriver driver =
      new GuestDriver("virtio:r?mode=inline&roce=rfc-v2").start(GuestDriver.ALL | 1L << 55);

  @AfterEach
  void close() {
    driver.close();
  }

  /** Little-endian numbers of 32 bits. */
  static String le(int... numbers) {
    StringBuilder hex = new StringBuilder();
    for (int number : numbers) {
      hex.append(HexFormat.of().toHexDigits(Integer.reverseBytes(number)));
    }
    return hex.toString();
  }

  /** Sends a command of class 6; returns what the card has written. */
  String command(int code, String data, int answerBytes) {
    GuestDriver.Ring control = driver.control;
    int first = control.buffer("06%02x".formatted(code), GuestDriver.NEXT);
    if (!data.isEmpty()) {
      control.buffer(data, GuestDriver.NEXT);
    }
    int answer = control.room(answerBytes);
    control.offer(first);
    control.kick();
    GuestDriver.Used used = control.used().getLast();
    assertThat(used.id()).isEqualTo(first);
    return control.content(answer, used.length());
  }

  boolean does(int code, String data) {
    return command(code, data, 1).equals("00");
  }

  int create(int code, String data) {
    String answer = command(code, data, 5);
    assertThat(answer).hasSize(10).startsWith("00");
    return Integer.reverseBytes(HexFormat.fromHexDigits(answer.substring(2)));
  }

  int pd() {
    return create(4, "");
  }

  static String register(int pd, int access, long start, long length, long... pages) {
    StringBuilder data = new StringBuilder(le(pd, access));
    data.append(le((int) start, (int) (start >>> 32), (int) length, (int) (length >>> 32)));
    data.append(le(pages.length, 0));
    for (long page : pages) {
      data.append(le((int) page, (int) (page >>> 32)));
    }
    return data.toString();
  }

  static String createQp(int pd, int type, int sends, int receives, int inline) {
    return le(pd, type, sends, receives) + le(16, 16, 4, 4, inline, 0) + "00".repeat(16);
  }

  static String modify(int qpn, int mask, int state, int mtu, int sgid) {
    return le(qpn, mask)
        + "%02x00%02x010101".formatted(state, mtu)
        + "0e0707"
        + "00".repeat(7)
        + le(0x11, 0x123456, 0x654321, 7, 7, 0)
        + "00".repeat(24)
        + GID_1
        + le(0)
        + "%02x400000".formatted(sgid)
        + "021122334402"
        + "00".repeat(10)
        + "00".repeat(16);
  }

  int connectable(int type) {
    int cq = create(2, le(16));
    assertThat(does(15, "0100" + "00".repeat(6) + GID_1)).isTrue();
    return create(9, createQp(pd(), type, cq, cq, 0));
  }
}
