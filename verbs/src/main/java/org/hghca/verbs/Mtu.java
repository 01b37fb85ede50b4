package org.hghca.verbs;

/** Path MTU: payload bytes in a packet, with the numbers of {@code ibv_mtu}. */
public enum Mtu {
  MTU_256,
  MTU_512,
  MTU_1024,
  MTU_2048,
  MTU_4096;

  private static final Mtu[] VALUES = values();

  /** The number in libibverbs, 1 to 5. */
  public int code() {
    return ordinal() + 1;
  }

  public int bytes() {
    return 256 << ordinal();
  }

  /**
   * The MTU with a number of libibverbs.
   *
   * @throws IllegalArgumentException when there is none
   */
  public static Mtu of(int code) {
    if (code < 1 || code > VALUES.length) {
      throw new IllegalArgumentException("no MTU code " + code);
    }
    return VALUES[code - 1];
  }
}
