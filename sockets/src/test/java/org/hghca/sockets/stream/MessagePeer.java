package org.hghca.sockets.stream;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import org.hghca.cm.CmEventType;
import org.hghca.sockets.protocol.ConnectData;
import org.hghca.sockets.protocol.Framing;
import org.hghca.sockets.protocol.HalfEntry;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.RemoteMemory;
import org.hghca.verbs.SendRequest;

/** A peer that sends messages, by verbs alone, as well or as badly as a test wants. */
final class MessagePeer implements AutoCloseable {
  private static final int SLOT = 512;
  private static final int RECEIVES = 64;
  private static final int SENDS = 128;

  private final VerbsPeer peer;
  private final MemoryRegion memory;
  private int sent;

  MessagePeer(String locator) {
    peer = new VerbsPeer(locator);
    memory = peer.domain.allocate((long) SLOT * (RECEIVES + SENDS), AccessFlag.LOCAL_WRITE);
  }

  /** Connects to a listener, as a peer of the rules. */
  void connect(InetSocketAddress to) throws InterruptedException {
    peer.resolve(to);
    CompletionQueue completions = peer.queue();
    QueuePair queuePair =
        peer.id.createQueuePair(
            peer.domain,
            QueuePairConfig.rc(completions, completions)
                .sendDepth(SENDS)
                .receiveDepth(RECEIVES)
                .signalAll());
    for (int i = 0; i < RECEIVES; i++) {
      queuePair.postReceive(new ReceiveRequest(1).into(memory, (long) i * SLOT, SLOT));
    }
    RemoteMemory slot = new RemoteMemory(0, 0, SLOT);
    RemoteMemory none = new RemoteMemory(0, 0, HalfEntry.COUNT);
    ConnectData data = new ConnectData(Framing.MESSAGES, false, 16, none, slot, 0);
    assertThat(peer.connect(data.toBytes()).type()).isEqualTo(CmEventType.ESTABLISHED);
  }

  /** Sends a word, and bytes after it. */
  void send(int word, byte... bytes) {
    sendBytes(ByteBuffer.allocate(Integer.BYTES + bytes.length).putInt(word).put(bytes).array());
  }

  /** Sends a message that may have no word. */
  void sendBytes(byte... message) {
    long at = (long) SLOT * (RECEIVES + sent++ % SENDS);
    MemorySegment.copy(message, 0, memory.segment(), ValueLayout.JAVA_BYTE, at, message.length);
    peer.id
        .queuePair()
        .orElseThrow()
        .postSend(new SendRequest(1).send().sge(memory, at, message.length));
  }

  @Override
  public void close() {
    peer.close();
  }
}
