package org.hghca.verbs;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;
import org.hghca.verbs.spi.ProviderAccess;

/**
 * A send work request: {@code ibv_send_wr}. Created once and reused: the call that names the
 * operation ({@link #send}, {@link #rdmaWrite}...) begins the request. It clears the elements,
 * flags and destination of the operation before; only the {@code wr_id} stays. Therefore it comes
 * before those of its own: {@code request.send().sge(memory).signaled()}. The first operation of a
 * new request throws {@link IllegalStateException} when it would clear something. Posting copies
 * everything, so the request can be reused on return. Not thread-safe.
 */
public final class SendRequest extends WorkRequest {
  private static final int OPCODE = 7;

  /** Eight bytes as they are, in any place. */
  private static final ValueLayout.OfLong BYTES = ValueLayout.JAVA_LONG_UNALIGNED;

  private static final int WORD = 8;

  private static final WrOpcode[] BY_CODE = new WrOpcode[WrOpcode.values().length];

  static {
    for (WrOpcode opcode : WrOpcode.values()) {
      BY_CODE[opcode.code()] = opcode;
    }
  }

  /** As {@link ProviderAccess#kind}. */
  private int kind = WrOpcode.SEND.code();

  /** Whether an operation was named: the next one then begins the request anew. */
  private boolean named;

  private long remoteAddress;
  private int rkey;
  private int immediate;
  private long compare;
  private long swapOrAdd;
  private AddressHandle addressHandle;
  private int remoteQpn;
  private int remoteQkey;
  private final MemorySegment[] sources;

  /** The address of an element relative to the first byte of its source. */
  private final long[] bases;

  /** A request with room for 16 scatter/gather elements. */
  public SendRequest() {
    this(16);
  }

  /** A request with room for some scatter/gather elements. */
  public SendRequest(int maxSge) {
    super(maxSge);
    sources = new MemorySegment[maxSge];
    bases = new long[maxSge];
  }

  /** The {@code wr_id} of the completion. Stays until it is set again. */
  public SendRequest wrId(long wrId) {
    setWrId(wrId);
    return this;
  }

  private SendRequest start(WrOpcode opcode, long remoteAddress, int rkey, int immediate) {
    if (!named) {
      checkNothingIsLost(opcode);
    }
    this.kind = opcode.code();
    this.remoteAddress = remoteAddress;
    this.rkey = rkey;
    this.immediate = immediate;
    addressHandle = null;
    forgetElements();
    return this;
  }

  private void checkNothingIsLost(WrOpcode opcode) {
    if (sgeCount() > 0 || addressHandle != null || kind != WrOpcode.SEND.code()) {
      throw new IllegalStateException(
          ("%s begins the request and would clear what is there:%s; name the operation first, as in"
                  + " new SendRequest().send().sge(region).signaled()")
              .formatted(opcode, contents()));
    }
    named = true;
  }

  /** Sends to the peer's next posted receive. */
  public SendRequest send() {
    return start(WrOpcode.SEND, 0, 0, 0);
  }

  /** Sends, with 32 bits for the peer's completion. */
  public SendRequest sendWithImmediate(int immediate) {
    return start(WrOpcode.SEND_WITH_IMM, 0, 0, immediate);
  }

  /** Writes into the peer's memory. */
  public SendRequest rdmaWrite(long remoteAddress, int rkey) {
    return start(WrOpcode.RDMA_WRITE, remoteAddress, rkey, 0);
  }

  /** Writes to the beginning of the peer's memory, which must be as long as the elements. */
  public SendRequest rdmaWrite(RemoteMemory target) {
    return rdmaWrite(target.address(), target.rkey());
  }

  /** Writes into the peer's memory, with 32 bits for the completion of its next receive. */
  public SendRequest rdmaWriteWithImmediate(long remoteAddress, int rkey, int immediate) {
    return start(WrOpcode.RDMA_WRITE_WITH_IMM, remoteAddress, rkey, immediate);
  }

  /** Reads the peer's memory. */
  public SendRequest rdmaRead(long remoteAddress, int rkey) {
    return start(WrOpcode.RDMA_READ, remoteAddress, rkey, 0);
  }

  /** Reads from the beginning of the peer's memory, which must be as long as the elements. */
  public SendRequest rdmaRead(RemoteMemory source) {
    return rdmaRead(source.address(), source.rkey());
  }

  /**
   * Compares 8 bytes of the peer's memory with a value and, where they are equal, replaces them by
   * another. The old value goes into the one element of the request, of 8 bytes.
   *
   * @param remoteAddress a multiple of 8
   */
  public SendRequest compareAndSwap(long remoteAddress, int rkey, long compare, long swap) {
    this.compare = compare;
    this.swapOrAdd = swap;
    return start(WrOpcode.ATOMIC_CMP_AND_SWP, remoteAddress, rkey, 0);
  }

  /**
   * Adds to 8 bytes of the peer's memory, modulo 2^64. The old value goes into the one element of
   * the request, of 8 bytes.
   *
   * @param remoteAddress a multiple of 8
   */
  public SendRequest fetchAndAdd(long remoteAddress, int rkey, long add) {
    this.compare = 0;
    this.swapOrAdd = add;
    return start(WrOpcode.ATOMIC_FETCH_AND_ADD, remoteAddress, rkey, 0);
  }

  /**
   * The destination of a datagram: required for queue pairs of type UD, and ignored for others.
   *
   * @param remoteQpn 24 bits
   * @param remoteQkey the Q_Key of the peer; with its highest bit set, the sending queue pair's own
   *     Q_Key is sent instead
   */
  public SendRequest to(AddressHandle handle, int remoteQpn, int remoteQkey) {
    this.addressHandle = Objects.requireNonNull(handle);
    this.remoteQpn = remoteQpn;
    this.remoteQkey = remoteQkey;
    return this;
  }

  /** Adds all of a memory region. */
  public SendRequest sge(MemoryRegion region) {
    return sge(region, 0, region.length());
  }

  /**
   * Adds a part of a memory region.
   *
   * @param offset in the region, in bytes
   * @param length at most 2^31 - 1 bytes
   * @throws IndexOutOfBoundsException when the part reaches beyond the region
   * @throws VerbsException EINVAL when there is no room for another element
   */
  public SendRequest sge(MemoryRegion region, long offset, long length) {
    Objects.checkFromIndexSize(offset, length, region.length());
    int index = sgeCount();
    add(region.address() + offset, length, region.lkey());
    sources[index] = region.segment();
    bases[index] = region.address();
    return this;
  }

  /** Adds all of a slice, such as a buffer of a pool. */
  public SendRequest sge(MemorySlice slice) {
    return sge(slice, slice.length());
  }

  /**
   * Adds the first bytes of a slice.
   *
   * @throws IndexOutOfBoundsException when the slice has fewer
   */
  public SendRequest sge(MemorySlice slice, long length) {
    Objects.checkFromIndexSize(0, length, slice.length());
    return sge(slice.region(), slice.offset(), length);
  }

  /**
   * Adds memory by address and key, as they are. Such an element cannot be sent inline.
   *
   * @param length at most 2^31 - 1 bytes
   * @throws VerbsException EINVAL when there is no room for another element
   */
  public SendRequest sge(long address, long length, int lkey) {
    int index = sgeCount();
    add(address, length, lkey);
    sources[index] = null;
    return this;
  }

  /**
   * Takes the bytes of a segment, which need not be registered, into the request itself when it is
   * posted. Implies {@link #inline}.
   */
  public SendRequest inline(MemorySegment data) {
    int index = sgeCount();
    add(data.address(), data.byteSize(), 0);
    sources[index] = data;
    bases[index] = data.address();
    kind |= SendKind.INLINE;
    return this;
  }

  /** Produces a completion also on success. */
  public SendRequest signaled() {
    kind |= SendKind.SIGNALED;
    return this;
  }

  /** Requests a completion event at the peer. */
  public SendRequest solicited() {
    kind |= SendKind.SOLICITED;
    return this;
  }

  /** Starts only when all earlier READs and atomics of the queue have ended. */
  public SendRequest fence() {
    kind |= SendKind.FENCED;
    return this;
  }

  /** Copies the data into the request when it is posted, so the memory is free on return. */
  public SendRequest inline() {
    kind |= SendKind.INLINE;
    return this;
  }

  public WrOpcode opcode() {
    return BY_CODE[kind & OPCODE];
  }

  /** As {@link ProviderAccess#kind}. */
  int kind() {
    return kind;
  }

  public long remoteAddress() {
    return remoteAddress;
  }

  public int rkey() {
    return rkey;
  }

  public int immediate() {
    return immediate;
  }

  /** What {@link #compareAndSwap} compares with. */
  public long compare() {
    return compare;
  }

  /** What {@link #compareAndSwap} swaps in, or {@link #fetchAndAdd} adds. */
  public long swapOrAdd() {
    return swapOrAdd;
  }

  /** The destination of a datagram; null if it was not set. */
  public AddressHandle addressHandle() {
    return addressHandle;
  }

  public int remoteQpn() {
    return remoteQpn;
  }

  public int remoteQkey() {
    return remoteQkey;
  }

  public boolean isSignaled() {
    return (kind & SendKind.SIGNALED) != 0;
  }

  public boolean isSolicited() {
    return (kind & SendKind.SOLICITED) != 0;
  }

  public boolean isFenced() {
    return (kind & SendKind.FENCED) != 0;
  }

  public boolean isInline() {
    return (kind & SendKind.INLINE) != 0;
  }

  /** As {@link ProviderAccess#copyData}. */
  int copyData(int index, MemorySegment destination, long offset, int most) {
    // Once: the destination may be unchecked, and another thread may change the request.
    int length = sgeLength(index);
    if (length > most) {
      return length;
    }
    MemorySegment source = sources[index];
    if (source == null) {
      return length == 0 ? 0 : -1;
    }
    long from = sgeAddress(index) - bases[index];
    if (length >= WORD && length <= 2 * WORD) {
      // Two words, which overlap when there are fewer bytes: less than the set-up of a copy.
      long first = source.get(BYTES, from);
      long last = source.get(BYTES, from + length - WORD);
      destination.set(BYTES, offset, first);
      destination.set(BYTES, offset + length - WORD, last);
    } else {
      MemorySegment.copy(source, from, destination, offset, length);
    }
    return length;
  }

  /** Everything that is posted, for logs. */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder(128).append(opcode()).append(" wr_id ").append(wrId());
    switch (opcode()) {
      case SEND -> {}
      case SEND_WITH_IMM -> appendImmediate(text);
      case RDMA_WRITE, RDMA_READ -> appendRemote(text);
      case RDMA_WRITE_WITH_IMM -> {
        appendRemote(text);
        appendImmediate(text);
      }
      case ATOMIC_FETCH_AND_ADD -> {
        appendRemote(text);
        text.append(", add ").append(swapOrAdd);
      }
      case ATOMIC_CMP_AND_SWP -> {
        appendRemote(text);
        text.append(", compare ").append(compare).append(", swap ").append(swapOrAdd);
      }
    }
    return text.append(contents()).toString();
  }

  /** What the call that names the operation clears. */
  private String contents() {
    StringBuilder text = new StringBuilder(64);
    if (addressHandle != null) {
      text.append(" to QP 0x%06x at %s".formatted(remoteQpn, addressHandle.vector().destination()));
    }
    appendElements(text);
    appendFlag(text, isSignaled(), "signaled");
    appendFlag(text, isSolicited(), "solicited");
    appendFlag(text, isFenced(), "fenced");
    appendFlag(text, isInline(), "inline");
    return text.toString();
  }

  private void appendRemote(StringBuilder text) {
    text.append(" at 0x%x rkey 0x%08x".formatted(remoteAddress, rkey));
  }

  private void appendImmediate(StringBuilder text) {
    text.append(" immediate 0x%08x".formatted(immediate));
  }

  private static void appendFlag(StringBuilder text, boolean set, String name) {
    if (set) {
      text.append(", ").append(name);
    }
  }
}
