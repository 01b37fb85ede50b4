package org.hghca.virtio.abi.roce;

/** Codes of the path MTU, with the numbers of libibverbs. */
public final class PathMtu {
  /** 256 bytes. */
  public static final int MTU_256 = 1;

  /** 512 bytes. */
  public static final int MTU_512 = 2;

  /** 1024 bytes. */
  public static final int MTU_1024 = 3;

  /** 2048 bytes. */
  public static final int MTU_2048 = 4;

  /** 4096 bytes. */
  public static final int MTU_4096 = 5;

  /**
   * Bytes of a code.
   *
   * @throws IllegalArgumentException if it is none
   */
  public static int bytes(int code) {
    if (code < MTU_256 || code > MTU_4096) {
      throw new IllegalArgumentException("a path MTU has a code from 1 to 5, not " + code);
    }
    return 128 << code;
  }

  private PathMtu() {}
}
