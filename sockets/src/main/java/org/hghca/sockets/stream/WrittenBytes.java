package org.hghca.sockets.stream;

import java.nio.ByteBuffer;
import java.util.Arrays;
import org.hghca.sockets.protocol.Grants;
import org.hghca.sockets.protocol.ReceiveWindow;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.ReceiveRequest;

/**
 * Bytes that the peer writes into a ring of two halves. Receives have no memory, and are posted
 * again in groups.
 */
final class WrittenBytes extends Incoming {
  /** Receives that are posted again together. */
  static final int GROUP = 16;

  private final StreamMemory memory;
  private final QueuePair queuePair;
  private final ReceiveWindow window;
  private final int receives;
  private final ReceiveRequest[] group = new ReceiveRequest[GROUP];
  private int used;

  /**
   * Nothing is posted.
   *
   * @param credits messages that the peer may have under way
   * @param receives requests, more than the credits
   */
  WrittenBytes(StreamMemory memory, QueuePair queuePair, int slot, int credits, int receives) {
    this.memory = memory;
    this.queuePair = queuePair;
    this.window = new ReceiveWindow(memory.half(), credits);
    this.receives = receives;
    ReceiveRequest receive = new ReceiveRequest(1).wrId(RequestId.receive(slot, 0)).empty();
    Arrays.fill(group, receive);
  }

  @Override
  void post() {
    for (int i = 0; i < receives; i++) {
      queuePair.postReceive(group[0]);
    }
  }

  @Override
  Grants grants() {
    return window;
  }

  @Override
  boolean take(int receive, int length, long received) {
    used(receive);
    return window.arrived(length);
  }

  @Override
  void used(int receive) {
    if (++used == GROUP) {
      used = 0;
      var _ = queuePair.tryPostReceive(group, 0, GROUP);
    }
  }

  @Override
  void arrivedWithoutBytes() {
    window.arrivedWithoutBytes();
  }

  @Override
  int header() {
    return 0;
  }

  @Override
  int word(int receive) {
    throw new IllegalStateException("the word is an immediate");
  }

  @Override
  int available() {
    return window.available();
  }

  @Override
  boolean copy(ByteBuffer destination) {
    int length = Math.min(window.contiguous(), destination.remaining());
    if (length == 0) {
      return false;
    }
    int to = destination.position();
    destination.put(to, memory.bytes(), window.offset(), length);
    destination.position(to + length);
    window.read(length);
    return true;
  }
}
