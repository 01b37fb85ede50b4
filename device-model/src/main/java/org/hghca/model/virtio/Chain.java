package org.hghca.model.virtio;

import java.lang.foreign.MemorySegment;
import org.hghca.model.card.HostMemory;

/**
 * The buffers of one request: those that the device reads, then those that it writes, as two
 * streams of bytes. Reused; used by one thread.
 */
final class Chain {
  private final long[] addresses;
  private final long[] lengths;
  private int head;
  private int readable;
  private int count;
  private long readableBytes;
  private long writableBytes;

  /**
   * @param most the most buffers
   */
  Chain(int most) {
    addresses = new long[most];
    lengths = new long[most];
  }

  void begin(int descriptor) {
    head = descriptor;
    readable = 0;
    count = 0;
    readableBytes = 0;
    writableBytes = 0;
  }

  boolean isFull() {
    return count == addresses.length;
  }

  /**
   * Adds a buffer; there must be room.
   *
   * @return false for one to read behind one to write
   */
  boolean add(long address, long length, boolean writable) {
    if (!writable && readable < count) {
      return false;
    }
    addresses[count] = address;
    lengths[count] = length;
    count++;
    if (writable) {
      writableBytes += length;
    } else {
      readable = count;
      readableBytes += length;
    }
    return true;
  }

  /** The index of its first descriptor. */
  int head() {
    return head;
  }

  /** Bytes that the device may read, and may write. */
  long readableBytes() {
    return readableBytes;
  }

  long writableBytes() {
    return writableBytes;
  }

  /**
   * Reads bytes, which must be there.
   *
   * @param from the first one in the stream
   * @throws QueueException when memory refuses it
   */
  void read(HostMemory host, long from, MemorySegment target, long length) throws QueueException {
    long skip = from;
    long done = 0;
    for (int i = 0; i < readable && done < length; i++) {
      if (skip >= lengths[i]) {
        skip -= lengths[i];
        continue;
      }
      long bytes = Math.min(lengths[i] - skip, length - done);
      if (!host.read(addresses[i] + skip, target, done, bytes)) {
        throw new QueueException("a buffer cannot be read");
      }
      done += bytes;
      skip = 0;
    }
  }

  /**
   * Writes bytes, for which there must be room.
   *
   * @param to where the first one goes in the stream
   * @throws QueueException when memory refuses it
   */
  void write(HostMemory host, long to, MemorySegment source, long length) throws QueueException {
    long skip = to;
    long done = 0;
    for (int i = readable; i < count && done < length; i++) {
      if (skip >= lengths[i]) {
        skip -= lengths[i];
        continue;
      }
      long bytes = Math.min(lengths[i] - skip, length - done);
      if (!host.write(addresses[i] + skip, source, done, bytes)) {
        throw new QueueException("a buffer cannot be written");
      }
      done += bytes;
      skip = 0;
    }
  }
}
