package org.hghca.sockets.stream;

import java.nio.ByteBuffer;
import java.util.Arrays;
import org.hghca.sockets.protocol.ReceiveWindow;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.ReceiveRequest;

/**
 * What a stream receives: its receive requests, posted again in groups by whoever takes
 * completions, and its buffer, read under the monitor of this object.
 */
final class Incoming {
  /** Receives that are posted again together. */
  static final int GROUP = 16;

  private final StreamMemory memory;
  private final QueuePair queuePair;
  private final ReceiveWindow window;
  private final ReceiveRequest[] group = new ReceiveRequest[GROUP];
  private int used;
  private boolean closed;
  private long bytes;
  private volatile long messages;

  Incoming(StreamMemory memory, QueuePair queuePair, int slot, ReceiveWindow window) {
    this.memory = memory;
    this.queuePair = queuePair;
    this.window = window;
    ReceiveRequest receive = new ReceiveRequest(1).wrId(RequestId.receive(slot)).empty();
    Arrays.fill(group, receive);
  }

  /** Posts the first receives. */
  void post(int count) {
    for (int i = 0; i < count; i++) {
      queuePair.postReceive(group[0]);
    }
  }

  // Completions, one thread at a time.

  /** A receive was used. */
  void used() {
    if (++used == GROUP) {
      used = 0;
      var _ = queuePair.tryPostReceive(group, 0, GROUP);
    }
  }

  /** Bytes have arrived; false when the peer had no room for them. */
  boolean arrived(int length) {
    long before = messages;
    messages = before + 1;
    return window.arrived(length);
  }

  /** A message has arrived that takes a credit, and has no bytes for this buffer. */
  void arrivedWithoutBytes() {
    window.arrivedWithoutBytes();
  }

  // Reading.

  /** Bytes that can be read. */
  int available() {
    return window.available();
  }

  /**
   * Takes what has arrived.
   *
   * @return how many bytes
   */
  synchronized int read(ByteBuffer destination) {
    int before = destination.position();
    while (!closed && destination.hasRemaining()) {
      int length = Math.min(window.contiguous(), destination.remaining());
      if (length == 0) {
        break;
      }
      int to = destination.position();
      destination.put(to, memory.bytes(), window.offset(), length);
      destination.position(to + length);
      window.read(length);
    }
    int taken = destination.position() - before;
    bytes += taken;
    return taken;
  }

  /** Nothing is read any more: the memory is to be closed. */
  synchronized void close() {
    closed = true;
  }

  synchronized long bytes() {
    return bytes;
  }

  long messages() {
    return messages;
  }
}
