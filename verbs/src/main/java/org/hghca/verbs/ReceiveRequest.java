package org.hghca.verbs;

import java.util.Objects;

/**
 * A receive work request: {@code ibv_recv_wr}. Created once and reused: {@link #into} resets it.
 * Posting copies everything, so that the request can be reused on return. Not thread-safe.
 */
public final class ReceiveRequest extends WorkRequest {
  /** A request with room for 16 scatter/gather elements. */
  public ReceiveRequest() {
    this(16);
  }

  /** A request with room for some scatter/gather elements. */
  public ReceiveRequest(int maxSge) {
    super(maxSge);
  }

  /** The {@code wr_id} of the completion. Stays until it is set again. */
  public ReceiveRequest wrId(long wrId) {
    setWrId(wrId);
    return this;
  }

  /** Clears the elements: the request takes only messages without data. */
  public ReceiveRequest empty() {
    forgetElements();
    return this;
  }

  /** Resets the elements to all of a memory region. */
  public ReceiveRequest into(MemoryRegion region) {
    return into(region, 0, region.length());
  }

  /**
   * Resets the elements to a part of a memory region; as {@link #sge(MemoryRegion, long, long)}.
   */
  public ReceiveRequest into(MemoryRegion region, long offset, long length) {
    return empty().sge(region, offset, length);
  }

  /** Resets the elements to all of a slice, such as a buffer of a pool. */
  public ReceiveRequest into(MemorySlice slice) {
    return empty().sge(slice);
  }

  /** Adds all of a slice. */
  public ReceiveRequest sge(MemorySlice slice) {
    return sge(slice.region(), slice.offset(), slice.length());
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
   * Adds memory by address and key, without checks.
   *
   * @param length at most 2^31 - 1 bytes
   * @throws VerbsException EINVAL when there is no room for another element
   */
  public ReceiveRequest sge(long address, long length, int lkey) {
    add(address, length, lkey);
    return this;
  }

  /** Everything that is posted, for logs. */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder(64).append("RECV wr_id ").append(wrId());
    appendElements(text);
    return text.toString();
  }
}
