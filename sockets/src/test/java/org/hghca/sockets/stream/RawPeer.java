package org.hghca.sockets.stream;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.ByteOrder;
import org.hghca.cm.CmEvent;
import org.hghca.cm.CmEventType;
import org.hghca.sockets.protocol.ConnectData;
import org.hghca.sockets.protocol.ForeignPeerException;
import org.hghca.sockets.protocol.Framing;
import org.hghca.sockets.protocol.HalfEntry;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.Completions;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.RemoteMemory;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.WcStatus;

/**
 * A peer that speaks the protocol word by word, by verbs alone, as well or as badly as a test
 * wants. Its receive buffer has halves of {@link #HALF} bytes.
 */
final class RawPeer implements AutoCloseable {
  static final int HALF = 4096;
  private static final int TABLE = 2 * HALF;
  private static final int SOURCE = TABLE + 64;
  private static final int BYTES = SOURCE + (1 << 18);

  private final VerbsPeer peer;
  private final CompletionQueue sends;
  private final CompletionQueue receives;
  private final MemoryRegion memory;
  private final Completions batch = new Completions(1);
  private final SendRequest request = new SendRequest(1);
  private ConnectData other;

  RawPeer(String locator) {
    peer = new VerbsPeer(locator);
    sends = peer.queue();
    receives = peer.queue();
    memory = peer.domain.allocate(BYTES, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
  }

  /** What a well-behaved peer says of itself. */
  ConnectData data(boolean bigEndian) {
    return new ConnectData(
        Framing.WRITES,
        bigEndian,
        64,
        new RemoteMemory(memory.address() + TABLE, memory.rkey(), 2),
        new RemoteMemory(memory.address(), memory.rkey(), HALF),
        0);
  }

  /** Asks a listener for a connection; the event that answers. */
  CmEvent connect(InetSocketAddress to, byte[] privateData)
      throws InterruptedException, ForeignPeerException {
    peer.resolve(to);
    QueuePair queuePair =
        peer.id.createQueuePair(
            peer.domain,
            QueuePairConfig.rc(sends, receives).sendDepth(64).receiveDepth(128).signalAll());
    for (int i = 0; i < 128; i++) {
      queuePair.postReceive(new ReceiveRequest(1).empty());
    }
    CmEvent event = peer.connect(privateData);
    if (event.type() == CmEventType.ESTABLISHED) {
      other = ConnectData.of(event.privateData(), Framing.WRITES);
    }
    return event;
  }

  /** What the other end says of itself. */
  ConnectData other() {
    return other;
  }

  /** Fills the source of writes. */
  void fill(byte... bytes) {
    MemorySegment.copy(bytes, 0, memory.segment(), ValueLayout.JAVA_BYTE, SOURCE, bytes.length);
  }

  /** Fills the source with an entry of a little-endian table: a half of the own buffer. */
  void fillEntry(int offset) {
    HalfEntry.put(
        memory.segment(),
        SOURCE,
        ByteOrder.LITTLE_ENDIAN,
        memory.address() + offset,
        memory.rkey(),
        HALF);
  }

  /** Writes from the source, with a word. */
  void write(long address, int key, int length, int word) {
    request.rdmaWriteWithImmediate(address, key, word);
    if (length > 0) {
      request.sge(memory, SOURCE, length);
    }
    peer.id.queuePair().orElseThrow().postSend(request);
  }

  /** Writes from the source, without a word. */
  void writePlain(long address, int key, int length) {
    request.rdmaWrite(address, key);
    if (length > 0) {
      request.sge(memory, SOURCE, length);
    }
    peer.id.queuePair().orElseThrow().postSend(request);
  }

  /** Writes bytes into the first half of the other end, from its beginning on. */
  void writeData(int offset, byte... bytes) {
    fill(bytes);
    write(other.half().address() + offset, other.half().rkey(), bytes.length, bytes.length);
  }

  /** How the next write ended. */
  WcStatus status() {
    await(sends);
    return batch.status(0);
  }

  /** The next word that arrives. */
  int word() {
    await(receives);
    if (!batch.isSuccess(0)) {
      throw new AssertionError(batch.status(0).text());
    }
    return batch.immediate(0);
  }

  private void await(CompletionQueue queue) {
    long deadline = System.nanoTime() + VerbsPeer.SOON.toNanos();
    while (queue.poll(batch) == 0) {
      if (System.nanoTime() - deadline > 0) {
        throw new AssertionError("no completion within the test's patience");
      }
      Thread.onSpinWait();
    }
  }

  /** A byte of the receive buffer. */
  byte received(int at) {
    return memory.segment().get(ValueLayout.JAVA_BYTE, at);
  }

  long tableAddress(int index, ByteOrder order) {
    return memory
        .segment()
        .get(ValueLayout.JAVA_LONG_UNALIGNED.withOrder(order), TABLE + 16L * index);
  }

  int tableKey(int index, ByteOrder order) {
    return memory
        .segment()
        .get(ValueLayout.JAVA_INT_UNALIGNED.withOrder(order), TABLE + 16L * index + 8);
  }

  int tableLength(int index, ByteOrder order) {
    return memory
        .segment()
        .get(ValueLayout.JAVA_INT_UNALIGNED.withOrder(order), TABLE + 16L * index + 12);
  }

  /** As the C library does when it has sent its last word. */
  void toError() {
    peer.id.queuePair().orElseThrow().modify(QpAttributes.to(QpState.ERR));
  }

  /** Ends the connection without a word. */
  void disconnect() {
    peer.id.disconnect();
  }

  @Override
  public void close() {
    peer.close();
  }
}
