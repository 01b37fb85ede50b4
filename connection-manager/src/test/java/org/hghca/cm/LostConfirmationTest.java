package org.hghca.cm;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.hghca.cm.ib.FaultyDevice;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.AsyncEvent;
import org.hghca.verbs.AsyncEventType;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.Completions;
import org.hghca.verbs.Context;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.RdmaDevices;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * The RTU is lost, and data of the active end comes. REP is repeated after 4096 ms, which brings
 * RTU again.
 */
class LostConfirmationTest {
  private static final Duration SOON = Duration.ofSeconds(20);
  private static final Duration REPETITION = Duration.ofMillis(4096);

  private final End client = new End(RdmaDevices.open("model:confirms?hub=confirms&ip=10.0.0.1"));
  private final FaultyDevice faulty = client.faulty;
  private final End server = new End(RdmaDevices.open("model:accepts?hub=confirms&ip=10.0.0.2"));
  private final CmId listener = server.channel.createId(PortSpace.TCP);
  private final CmId active = client.channel.createId(PortSpace.TCP);
  private final CmId passive;

  /** A device with what a queue pair needs. */
  private static final class End implements AutoCloseable {
    final Context context;

    /** The device of its connection manager; its own queue pairs have no faults. */
    final FaultyDevice faulty;

    final EventChannel channel;
    final ProtectionDomain pd;
    final CompletionQueue cq;
    final MemoryRegion memory;

    End(Context context) {
      this.context = context;
      faulty = new FaultyDevice(context);
      channel = EventChannel.open(faulty.context());
      pd = context.allocateProtectionDomain();
      cq = context.createCompletionQueue(16);
      memory = pd.allocate(64, AccessFlag.LOCAL_WRITE);
    }

    QueuePairConfig config() {
      return QueuePairConfig.rc(cq, cq);
    }

    CmEvent take(CmEventType type, Duration limit) throws InterruptedException {
      CmEvent event = channel.await(limit).orElseThrow();
      event.acknowledge();
      assertThat(event.type()).as(event.toString()).isEqualTo(type);
      return event;
    }

    void assertCompletes() {
      Completions polled = new Completions(1);
      while (cq.poll(polled) == 0) {
        Thread.onSpinWait();
      }
      assertThat(polled.isSuccess(0)).as(polled.describe(0)).isTrue();
    }

    @Override
    public void close() {
      channel.close();
      memory.close();
      cq.close();
      pd.close();
      context.close();
    }
  }

  /** Asks; the second datagram of the client, which is RTU, will be lost. */
  LostConfirmationTest() throws InterruptedException {
    listener.bind(new InetSocketAddress(InetAddress.ofLiteral("10.0.0.2"), 0));
    listener.listen(1);
    active.resolveAddress(listener.localAddress(), SOON);
    client.take(CmEventType.ADDR_RESOLVED, SOON);
    active.resolveRoute(SOON);
    client.take(CmEventType.ROUTE_RESOLVED, SOON);
    active.createQueuePair(client.pd, client.config());
    faulty.failOnce("postSend", 1);
    active.connect();
    passive = server.take(CmEventType.CONNECT_REQUEST, SOON).id();
  }

  @AfterEach
  void close() {
    active.close();
    passive.close();
    listener.close();
    client.close();
    server.close();
  }

  private void receives(QueuePair queuePair) {
    queuePair.postReceive(new ReceiveRequest().into(server.memory, 0, 8));
  }

  /** Data comes over, although the passive end has no confirmation. */
  private void sendData() throws InterruptedException {
    client.take(CmEventType.ESTABLISHED, SOON);
    active
        .queuePair()
        .orElseThrow()
        .postSend(new SendRequest().send().sge(client.memory, 0, 8).signaled());
    client.assertCompletes();
    server.assertCompletes();
  }

  /** In RTS no event of the device tells of the data. */
  @Test
  void repeatedReplyBringsTheConfirmationToAQueuePairInRts() throws Exception {
    receives(passive.createQueuePair(server.pd, server.config()));
    long accepted = System.nanoTime();
    passive.accept();
    sendData();
    server.take(CmEventType.ESTABLISHED, REPETITION.plusSeconds(3));
    assertThat(Duration.ofNanos(System.nanoTime() - accepted)).isGreaterThan(REPETITION);
    assertThat(server.context.asyncEvents().poll()).isEmpty();
    assertThat(server.channel.poll()).isEmpty();
  }

  /** In RTR the device reports the first packet, and the program passes it on. */
  @Test
  void firstPacketConfirmsToAQueuePairInRtr() throws Exception {
    try (QueuePair own = server.pd.createQueuePair(server.config())) {
      passive.accept(ConnectionParameters.DEFAULT.withQueuePair(own.number(), false));
      own.modify(passive.initQueuePairAttributes(QpState.INIT));
      receives(own);
      own.modify(passive.initQueuePairAttributes(QpState.RTR));
      sendData();
      AsyncEvent event = server.context.asyncEvents().await(SOON).orElseThrow();
      event.acknowledge();
      assertThat(event.type()).isEqualTo(AsyncEventType.COMM_EST);
      passive.communicationEstablished();
      server.take(CmEventType.ESTABLISHED, Duration.ofSeconds(3));
    }
  }
}
