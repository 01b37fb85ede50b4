package org.hghca.verbs;

/**
 * The common part of send and receive requests: a {@code wr_id} and scatter/gather elements. Not
 * thread-safe.
 */
public abstract sealed class WorkRequest permits SendRequest, ReceiveRequest {
  private static final int WORDS = 2;

  private long wrId;
  private int sges;

  /** Two words an element: address; length in the low and key in the high half. */
  private final long[] elements;

  WorkRequest(int maxSge) {
    elements = new long[Math.multiplyExact(maxSge, WORDS)];
  }

  final void setWrId(long wrId) {
    this.wrId = wrId;
  }

  final void forgetElements() {
    sges = 0;
  }

  final void add(long address, long length, int lkey) {
    int at = sges * WORDS;
    if (at == elements.length) {
      throw new VerbsException(
          Errno.EINVAL, "this request has room for %d elements".formatted(sges));
    }
    if (length < 0 || length > Integer.MAX_VALUE) {
      throw new VerbsException(
          Errno.EINVAL, "an element of %d bytes: at most 2^31 - 1 are allowed".formatted(length));
    }
    elements[at] = address;
    elements[at + 1] = (long) lkey << 32 | length;
    sges++;
  }

  /** The {@code wr_id} of the completion. */
  public final long wrId() {
    return wrId;
  }

  /** Number of elements. */
  public final int sgeCount() {
    return sges;
  }

  /** The address of an element's first byte. */
  public final long sgeAddress(int index) {
    return elements[index * WORDS];
  }

  /** The length of an element in bytes, 31 bits. */
  public final int sgeLength(int index) {
    return (int) elements[index * WORDS + 1];
  }

  /** The local key of an element. */
  public final int sgeLkey(int index) {
    return (int) (elements[index * WORDS + 1] >>> 32);
  }

  /** As {@link org.hghca.verbs.spi.ProviderAccess#lengthAndKey}. */
  final long lengthAndKey(int index) {
    return elements[index * WORDS + 1];
  }

  /** The elements, as {@code [0x1000+64 lkey 0x00000105]}. */
  final void appendElements(StringBuilder text) {
    for (int i = 0; i < sges; i++) {
      text.append(" [0x%x+%d lkey 0x%08x]".formatted(sgeAddress(i), sgeLength(i), sgeLkey(i)));
    }
  }
}
