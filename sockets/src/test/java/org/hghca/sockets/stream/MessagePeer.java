package org.hghca.sockets.stream;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import org.hghca.cm.CmEvent;
import org.hghca.cm.CmEventType;
import org.hghca.cm.CmId;
import org.hghca.cm.ConnectionParameters;
import org.hghca.cm.EventChannel;
import org.hghca.cm.PortSpace;
import org.hghca.sockets.protocol.ConnectData;
import org.hghca.sockets.protocol.Framing;
import org.hghca.sockets.protocol.HalfEntry;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.Context;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.RdmaDevices;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.RemoteMemory;
import org.hghca.verbs.SendRequest;

/** A peer that sends messages, by verbs alone, as well or as badly as a test wants. */
final class MessagePeer implements AutoCloseable {
  private static final int SLOT = 512;
  private static final int RECEIVES = 64;
  private static final int SENDS = 128;
  private static final Duration SOON = Duration.ofSeconds(20);

  private final Context context;
  private final ProtectionDomain domain;
  private final CompletionQueue completions;
  private final MemoryRegion memory;
  private final EventChannel channel;
  private final CmId id;
  private int sent;

  MessagePeer(String locator) {
    context = RdmaDevices.open(locator);
    domain = context.allocateProtectionDomain();
    completions = context.createCompletionQueue(512);
    memory = domain.allocate((long) SLOT * (RECEIVES + SENDS), AccessFlag.LOCAL_WRITE);
    channel = EventChannel.open(context);
    id = channel.createId(PortSpace.TCP);
  }

  /** Connects to a listener, as a peer of the rules. */
  void connect(InetSocketAddress to) throws InterruptedException {
    id.resolveAddress(to, SOON);
    take(CmEventType.ADDR_RESOLVED);
    id.resolveRoute(SOON);
    take(CmEventType.ROUTE_RESOLVED);
    QueuePair queuePair =
        id.createQueuePair(
            domain,
            QueuePairConfig.rc(completions, completions)
                .sendDepth(SENDS)
                .receiveDepth(RECEIVES)
                .signalAll());
    for (int i = 0; i < RECEIVES; i++) {
      queuePair.postReceive(new ReceiveRequest(1).into(memory, (long) i * SLOT, SLOT));
    }
    RemoteMemory slot = new RemoteMemory(0, 0, SLOT);
    RemoteMemory none = new RemoteMemory(0, 0, HalfEntry.COUNT);
    id.connect(
        ConnectionParameters.DEFAULT
            .withResponderResources(0)
            .withInitiatorDepth(0)
            .withPrivateData(
                new ConnectData(Framing.MESSAGES, false, 16, none, slot, 0).toBytes()));
    take(CmEventType.ESTABLISHED);
  }

  private void take(CmEventType wanted) throws InterruptedException {
    CmEvent event = channel.await(SOON).orElseThrow();
    event.acknowledge();
    if (event.type() != wanted) {
      throw new AssertionError(event.toString());
    }
  }

  /** Sends a word, and bytes after it. */
  void send(int word, byte... bytes) {
    sendBytes(ByteBuffer.allocate(Integer.BYTES + bytes.length).putInt(word).put(bytes).array());
  }

  /** Sends a message that may have no word. */
  void sendBytes(byte... message) {
    long at = (long) SLOT * (RECEIVES + sent++ % SENDS);
    MemorySegment.copy(message, 0, memory.segment(), ValueLayout.JAVA_BYTE, at, message.length);
    id.queuePair()
        .orElseThrow()
        .postSend(new SendRequest(1).send().sge(memory, at, message.length));
  }

  @Override
  public void close() {
    id.close();
    channel.close();
    memory.close();
    completions.close();
    domain.close();
    context.close();
  }
}
