package org.hghca.verbs;

/** Path MTU: payload bytes in a packet, with the numbers of {@code ibv_mtu}. */
public enum Mtu {
  MTU_256(1, 256),
  MTU_512(2, 512),
  MTU_1024(3, 1024),
  MTU_2048(4, 2048),
  MTU_4096(5, 4096);

  private final int code;
  private final int bytes;

  Mtu(int code, int bytes) {
    this.code = code;
    this.bytes = bytes;
  }

  /** The number in libibverbs, 1 to 5. */
  public int code() {
    return code;
  }

  public int bytes() {
    return bytes;
  }

  /**
   * The MTU with a number of libibverbs.
   *
   * @throws VerbsException EINVAL when there is none
   */
  public static Mtu of(int code) {
    for (Mtu mtu : values()) {
      if (mtu.code == code) {
        return mtu;
      }
    }
    throw new VerbsException(Errno.EINVAL, "there is no MTU with the number " + code);
  }
}
