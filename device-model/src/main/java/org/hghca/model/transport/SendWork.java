package org.hghca.model.transport;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.hghca.wire.Packet;

/** A send work request, as read from its queue, and the requester's progress with it. */
public final class SendWork {
  /** The maximum number of pieces of local memory. */
  public static final int MAX_PIECES = 16;

  /** The maximum number of bytes of a message. */
  static final long MAX_LENGTH = 1L << 31;

  /** The maximum number of bytes of inline data. */
  public static final int MAX_INLINE = 1024;

  /** SUCCESS when the request can be executed. */
  public WorkStatus status;

  public SendOperation operation;

  /** The device's identifier of the request; the transport only passes it on. */
  public int position;

  /** The device's code of the operation; the transport only passes it on. */
  public int deviceOpcode;

  public long remoteAddress;
  public int remoteKey;

  /** Atomics: value to swap in or to add, and value to compare with. */
  public long swapAdd;

  public long compare;

  /** Datagrams: destination, source, and the Q_Key, whose top bit selects the own one. */
  public long destinationMac;

  public long sourceMac;
  public final IpPath path = new IpPath();
  public int destinationQpn;
  public int queueKey;

  public int immediate;
  public boolean solicited;

  /** Wait until earlier READs and atomics are done. */
  public boolean fence;

  public final ScatterList pieces = new ScatterList(MAX_PIECES);

  /** Length of inline data in bytes, or -1 when the data is in {@link #pieces}. */
  public int inlineLength;

  /** Bytes of one packet, fixed when the request is taken. */
  int mtu;

  /** Number of PSNs of the request, 0 for one that cannot be executed. */
  int packets;

  int firstPsn;

  /** READ or atomic: responses that have arrived. */
  int responses;

  /**
   * READ or atomic: the number of responses at which a gap was last answered with a retry, or -1.
   */
  int gapAt;

  private MemorySegment inline;

  /** Makes the request an empty, valid one. */
  public void clear() {
    status = WorkStatus.SUCCESS;
    operation = SendOperation.SEND;
    position = 0;
    deviceOpcode = 0;
    remoteAddress = 0;
    remoteKey = 0;
    swapAdd = 0;
    compare = 0;
    destinationMac = 0;
    sourceMac = 0;
    path.ipv4(0, 0);
    destinationQpn = 0;
    queueKey = 0;
    immediate = 0;
    solicited = false;
    fence = false;
    pieces.clear();
    inlineLength = -1;
    packets = 0;
    responses = 0;
    gapAt = -1;
  }

  /** Memory for inline data, {@link #MAX_INLINE} bytes. */
  public MemorySegment inline() {
    if (inline == null) {
      inline = Arena.ofAuto().allocate(MAX_INLINE, 8);
    }
    return inline;
  }

  /** Length of the message in bytes. */
  public long length() {
    return inlineLength >= 0 ? inlineLength : pieces.total();
  }

  /** Number of packets of a message; most have one, which needs no division. */
  static int packets(long length, int mtu) {
    return length <= mtu ? 1 : (int) ((length + mtu - 1) / mtu);
  }

  /**
   * Whether it can be executed.
   *
   * @param most bytes of a message
   */
  WorkStatus check(KeyedMemory memory, int pd, long most) {
    if (length() > most || operation.isAtomic() && length() != Atomics.SIZE) {
      return WorkStatus.LOCAL_LENGTH;
    }
    MemoryAccess access =
        operation.isAnsweredWithData() ? MemoryAccess.LOCAL_WRITE : MemoryAccess.LOCAL_READ;
    return pieces.check(memory, pd, access) == MemoryStatus.OK
        ? WorkStatus.SUCCESS
        : WorkStatus.LOCAL_PROTECTION;
  }

  /** Names the memory of the responder in the first packet, if the operation uses any. */
  void nameMemory(Packet first) {
    if (operation.usesRemoteMemory()) {
      first.remoteAddress = remoteAddress;
      first.remoteKey = remoteKey;
      first.dmaLength = (int) length();
    }
  }

  /** Asks for the responses from one to below another, in a packet of a READ or an atomic. */
  void ask(Packet packet, int from, int to) {
    long offset = (long) from * mtu;
    packet.remoteAddress = remoteAddress + offset;
    packet.remoteKey = remoteKey;
    packet.dmaLength = (int) (Math.min((long) to * mtu, length()) - offset);
    packet.swapAdd = swapAdd;
    packet.compare = compare;
  }

  /** Fills a packet of any other operation by its number, but for operation and PSN. */
  MemoryStatus fill(KeyedMemory memory, int pd, int number, Packet packet) {
    long offset = (long) number * mtu;
    packet.length = (int) Math.min(mtu, length() - offset);
    packet.immediate = immediate;
    if (number == 0) {
      nameMemory(packet);
    }
    if (packet.length == 0) {
      return MemoryStatus.OK;
    }
    if (inlineLength >= 0) {
      MemorySegment.copy(inline(), offset, packet.payload(), 0, packet.length);
      return MemoryStatus.OK;
    }
    return pieces.gather(memory, pd, offset, packet.payload(), packet.length);
  }
}
