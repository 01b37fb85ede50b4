package org.hghca.verbs;

import java.util.Objects;

/**
 * A receive work request: {@code ibv_recv_wr}. Made once and used again: {@link #into} starts it
 * afresh. Posting copies everything, so that the request is free on return. Not thread-safe.
 */
public final class ReceiveRequest {
  private long wrId;
  private int sges;
  private final long[] addresses;
  private final int[] lengths;
  private final int[] lkeys;

  /** A request with room for 16 scatter/gather elements. */
  public ReceiveRequest() {
    this(16);
  }

  /** A request with room for some scatter/gather elements. */
  public ReceiveRequest(int maxSge) {
    addresses = new long[maxSge];
    lengths = new int[maxSge];
    lkeys = new int[maxSge];
  }

  /** What the completion will carry. Stays until it is set anew. */
  public ReceiveRequest wrId(long wrId) {
    this.wrId = wrId;
    return this;
  }

  /** Forgets the elements: the request takes messages without data only. */
  public ReceiveRequest empty() {
    sges = 0;
    return this;
  }

  /** Starts afresh with all of a memory region. */
  public ReceiveRequest into(MemoryRegion region) {
    return into(region, 0, region.length());
  }

  /** Starts afresh with a part of a memory region; as {@link #sge(MemoryRegion, long, long)}. */
  public ReceiveRequest into(MemoryRegion region, long offset, long length) {
    return empty().sge(region, offset, length);
  }

  /**
   * Adds a part of a memory region.
   *
   * @param offset in the region, in bytes
   * @param length at most 2^31 - 1 bytes
   * @throws IndexOutOfBoundsException when the part reaches beyond the region
   * @throws VerbsException EINVAL when there is no room for another element
   */
  public ReceiveRequest sge(MemoryRegion region, long offset, long length) {
    Objects.checkFromIndexSize(offset, length, region.length());
    return sge(region.address() + offset, length, region.lkey());
  }

  /**
   * Adds memory by address and key, as they are.
   *
   * @param length at most 2^31 - 1 bytes
   * @throws VerbsException EINVAL when there is no room for another element
   */
  public ReceiveRequest sge(long address, long length, int lkey) {
    if (sges == addresses.length) {
      throw new VerbsException(
          Errno.EINVAL, "this request has room for %d elements".formatted(addresses.length));
    }
    if (length < 0 || length > Integer.MAX_VALUE) {
      throw new VerbsException(
          Errno.EINVAL, "an element of %d bytes: at most 2^31 - 1 are possible".formatted(length));
    }
    addresses[sges] = address;
    lengths[sges] = (int) length;
    lkeys[sges] = lkey;
    sges++;
    return this;
  }

  public long wrId() {
    return wrId;
  }

  /** How many elements there are. */
  public int sgeCount() {
    return sges;
  }

  public long sgeAddress(int index) {
    return addresses[index];
  }

  public int sgeLength(int index) {
    return lengths[index];
  }

  public int sgeLkey(int index) {
    return lkeys[index];
  }
}
