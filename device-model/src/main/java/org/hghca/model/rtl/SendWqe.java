package org.hghca.model.rtl;

import java.lang.foreign.MemorySegment;

/** A send WQE as the parser has read it. The object is reused. */
public final class SendWqe {
  /** The parser's result for a WQE. */
  public enum Outcome {
    GOOD,
    /** An access of a data unit, other than the last, is not allowed. */
    DENIED,
    /** No message: the card knows no such opcode and drops the WQE. */
    DROPPED,
    /** The parser waits indefinitely. */
    STOPPED
  }

  public int opcode;

  /** The queue pair's number as the doorbell had it. */
  public int qpn;

  /** Byte offset in the send queue. */
  public int offset;

  /** Of the WQE behind it: opcode, byte offset and size in units of 16 bytes, 0 for none. */
  public int nextOpcode;

  public int nextOffset;
  public int nextSize;
  public boolean nextFence;

  /** Whether it is not to be sent before the READs in front of it are finished. */
  public boolean fence;

  public int immediate;
  public long remoteAddress;
  public int remoteKey;

  /** Of a datagram. */
  public long destinationMac;

  public int destinationIp;
  public int destinationQpn;
  public int queueKey;

  /** Whether there is an inline unit, or a data unit at least. */
  public boolean hasData;

  boolean isInline;

  /** Bytes of the message. */
  public long length;

  public final SgeList data = new SgeList();
  private MemorySegment inline;
  private long inlineAt;

  public void clear() {
    nextSize = 0;
    hasData = false;
    isInline = false;
    length = 0;
    data.clear();
  }

  public void inline(MemorySegment bytes, long at, int count) {
    inline = bytes;
    inlineAt = at;
    isInline = true;
    hasData = true;
    length = count;
  }

  /** Fetches the next bytes of the message. */
  public void gather(Translation translation, MemorySegment target, int count) {
    if (isInline) {
      MemorySegment.copy(inline, inlineAt, target, 0, count);
      inlineAt += count;
      return;
    }
    for (int done = 0; done < count; ) {
      int i = data.index();
      int piece = Math.min(count - done, data.room());
      translation.read(data.key(i), data.position(), target, done, piece);
      data.use(piece);
      done += piece;
    }
  }
}
