package org.hghca.sockets.stream;

import java.nio.ByteBuffer;
import org.hghca.sockets.protocol.Grants;
import org.hghca.sockets.protocol.SlotWindow;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.ReceiveRequest;

/**
 * Bytes that the peer sends in messages, each of which takes a receive buffer until it was read.
 * There is one for each credit, and for each word that the peer may send besides.
 */
final class SentBytes extends Incoming {
  private final ByteBuffer memory;
  private final QueuePair queuePair;
  private final SlotWindow window;
  private final int slotBytes;
  private final ReceiveRequest[] receives;

  /**
   * Nothing is posted.
   *
   * @param credits messages with bytes that the peer may have under way
   * @param receives buffers, more than the credits
   */
  SentBytes(
      StreamMemory memory,
      QueuePair queuePair,
      int slot,
      int credits,
      int slotBytes,
      int receives) {
    this.memory = memory.bytes();
    this.queuePair = queuePair;
    this.window = new SlotWindow(credits, slotBytes);
    this.slotBytes = slotBytes;
    this.receives = new ReceiveRequest[receives];
    for (int i = 0; i < receives; i++) {
      this.receives[i] =
          new ReceiveRequest(1)
              .wrId(RequestId.receive(slot, i))
              .into(memory.region(), (long) i * slotBytes, slotBytes);
    }
  }

  @Override
  synchronized void post() {
    for (ReceiveRequest receive : receives) {
      queuePair.postReceive(receive);
    }
  }

  @Override
  Grants grants() {
    return window;
  }

  @Override
  boolean take(int receive, int length, long received) {
    return length == received - SlotWindow.HEADER && window.arrived(receive, length);
  }

  @Override
  synchronized void used(int receive) {
    if (!isClosed()) {
      var _ = queuePair.tryPostReceive(receives, receive, 1);
    }
  }

  @Override
  void arrivedWithoutBytes() {
    // it took no credit
  }

  @Override
  int header() {
    return SlotWindow.HEADER;
  }

  @Override
  int word(int receive) {
    return memory.getInt(receive * slotBytes);
  }

  @Override
  int available() {
    return window.available();
  }

  @Override
  boolean copy(ByteBuffer destination) {
    if (!window.hasSlot()) {
      return false;
    }
    int length = Math.min(window.contiguous(), destination.remaining());
    int to = destination.position();
    int from = window.slot() * slotBytes + SlotWindow.HEADER + window.offset();
    destination.put(to, memory, from, length);
    destination.position(to + length);
    window.read(length);
    if (window.contiguous() == 0) {
      used(window.slot());
      window.free();
    }
    return true;
  }
}
