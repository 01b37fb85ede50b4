package org.hghca.verbs;

/**
 * Memory that a driver offers the peer of one of its queue pairs, on a device whose PSNs do not
 * wrap ({@link DeviceQuirk#NO_PSN_WRAP}). The peer's driver READs it to take its PSN over the wrap,
 * where a SEND or WRITE would stop its card. The content means nothing.
 *
 * <p>The memory stays readable until the queue pair that offered it is closed.
 *
 * @param rkey the key, not 0
 * @param address of the first byte
 * @param length in bytes, at least {@link #MIN_LENGTH}; the memory does not cross the end of the
 *     address space
 */
public record WrapMemory(int rkey, long address, int length) {
  /** The smallest memory that can be offered: one packet of the largest path MTU. */
  public static final int MIN_LENGTH = 4096;

  /**
   * Memory of a peer.
   *
   * @throws VerbsException EINVAL for memory that no driver offers
   */
  public WrapMemory {
    boolean crosses = Long.compareUnsigned(address + length - 1, address) < 0;
    if (rkey == 0 || length < MIN_LENGTH || crosses) {
      throw new VerbsException(
          Errno.EINVAL,
          ("rkey 0x%08x, %d bytes at 0x%x is no memory for the PSN wrap: it needs a key, at least"
                  + " %d bytes, and an end in the address space")
              .formatted(rkey, length, address, MIN_LENGTH));
    }
  }
}
