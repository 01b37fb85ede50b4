package org.hghca.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.Completions;
import org.hghca.verbs.Errno;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.VerbsException;
import org.hghca.verbs.WcStatus;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Identifiers over the TCP carrier: events in librdmacm's order, with its status and data. */
@Timeout(60)
class CmIdTest {
  private final TwoDevices it = new TwoDevices();

  @AfterEach
  void close() {
    it.close();
  }

  private static void assertFails(Errno errno, ThrowingCallable call, String words) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(VerbsException.class, e -> assertThat(e.errno()).isEqualTo(errno))
        .hasMessageContaining(words);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** Sends a message from one queue pair to the other. */
  private void transfer(QueuePair from, QueuePair to) {
    try (MemoryRegion source = from.protectionDomain().allocate(64, AccessFlag.LOCAL_WRITE);
        MemoryRegion sink = to.protectionDomain().allocate(64, AccessFlag.LOCAL_WRITE)) {
      source.segment().setString(0, "by address");
      to.postReceive(new ReceiveRequest().wrId(2).into(sink, 0, 64));
      from.postSend(new SendRequest().wrId(1).send().sge(source, 0, 64).signaled());
      assertThat(poll(from)).isEqualTo(WcStatus.SUCCESS);
      assertThat(poll(to)).isEqualTo(WcStatus.SUCCESS);
      assertThat(sink.segment().getString(0)).isEqualTo("by address");
    }
  }

  private static WcStatus poll(QueuePair pair) {
    Completions completions = new Completions(1);
    while (pair.sendCompletionQueue().poll(completions) == 0) {
      Thread.onSpinWait();
    }
    return completions.status(0);
  }

  @Test
  void connectsTransfersAndDisconnects() throws Exception {
    CmId listener = it.listen(PortSpace.TCP, 8);
    CmId active = it.routed(listener);
    active.connect(
        ConnectionParameters.DEFAULT
            .withPrivateData(bytes("hello"))
            .withResponderResources(4)
            .withInitiatorDepth(2));

    CmEvent request = it.server.take(CmEventType.CONNECT_REQUEST);
    assertThat(request.listener()).contains(listener);
    assertThat(new String(request.privateData(), StandardCharsets.UTF_8)).startsWith("hello");
    assertThat(request.parameters().responderResources()).isEqualTo(2);
    assertThat(request.parameters().initiatorDepth()).isEqualTo(4);
    assertThat(request.parameters().qpNumber())
        .isEqualTo(active.queuePair().orElseThrow().number());
    CmId passive = it.server.keep(request.id());
    passive.createQueuePair(it.server.pd, it.server.config(PortSpace.TCP));
    passive.accept(ConnectionParameters.DEFAULT.withPrivateData(bytes("welcome")));

    CmEvent established = it.client.take(CmEventType.ESTABLISHED);
    assertThat(new String(established.privateData(), StandardCharsets.UTF_8)).startsWith("welcome");
    it.server.take(CmEventType.ESTABLISHED);
    QueuePair here = active.queuePair().orElseThrow();
    QueuePair there = passive.queuePair().orElseThrow();
    assertThat(here.query().minRnrTimer()).isEqualTo(12);
    assertThat(here.query().maxReadAtomic()).isEqualTo(2);
    assertThat(here.query().maxDestinationReadAtomic()).isEqualTo(4);
    assertThat(there.query().maxReadAtomic()).isEqualTo(4);
    assertThat(there.query().maxDestinationReadAtomic()).isEqualTo(2);
    assertThat(here.query().sendPsn()).isEqualTo(there.query().receivePsn());
    transfer(here, there);
    transfer(there, here);

    active.disconnect();
    assertThat(here.state()).isEqualTo(QpState.ERR);
    it.server.take(CmEventType.DISCONNECTED);
    passive.disconnect();
    it.client.take(CmEventType.DISCONNECTED);
    it.client.take(CmEventType.TIMEWAIT_EXIT);
    it.server.take(CmEventType.TIMEWAIT_EXIT);
  }

  @Test
  void refusalHasReason28AndPrivateData() throws Exception {
    CmId listener = it.listen(PortSpace.TCP, 8);
    CmId active = it.routed(listener);
    active.connect();
    CmId passive = it.requested();
    passive.reject(bytes("no"));

    CmEvent event = it.client.take(CmEventType.REJECTED);
    assertThat(event.status()).isEqualTo(28);
    assertThat(event.message()).contains("the peer refuses");
    assertThat(Arrays.copyOf(event.privateData(), 2)).isEqualTo(bytes("no"));
    assertThat(active.queuePair().orElseThrow().state()).isEqualTo(QpState.ERR);
    assertThat(passive.queuePair().orElseThrow().state()).isEqualTo(QpState.ERR);
  }

  @Test
  void nobodyListensIsReason8() throws Exception {
    CmId listener = it.listen(PortSpace.TCP, 8);
    CmId active = it.routed(listener);
    listener.close();
    active.connect();

    CmEvent event = it.client.take(CmEventType.REJECTED);
    assertThat(event.status()).isEqualTo(8);
    assertThat(event.message()).contains("nobody listens");
  }

  @Test
  void ownQueuePairGetsAResponseAndEstablishes() throws Exception {
    CmId listener = it.listen(PortSpace.TCP, 8);
    CmId active = it.client.id(PortSpace.TCP);
    active.resolveAddress(listener.localAddress(), TwoDevices.SOON);
    it.client.take(CmEventType.ADDR_RESOLVED);
    active.resolveRoute(TwoDevices.SOON);
    it.client.take(CmEventType.ROUTE_RESOLVED);
    try (QueuePair own = it.client.pd.createQueuePair(it.client.config(PortSpace.TCP))) {
      own.modify(active.initQueuePairAttributes(QpState.INIT));
      active.connect(ConnectionParameters.DEFAULT.withQueuePair(own.number(), false));
      CmId passive = it.requested();
      passive.accept();
      it.client.take(CmEventType.CONNECT_RESPONSE);
      own.modify(active.initQueuePairAttributes(QpState.RTR));
      own.modify(active.initQueuePairAttributes(QpState.RTS));
      active.establish();
      it.server.take(CmEventType.ESTABLISHED);
      transfer(own, passive.queuePair().orElseThrow());
    }
  }

  @Test
  void datagramServiceTellsItsQueuePair() throws Exception {
    CmId listener = it.listen(PortSpace.UDP, 8);
    CmId active = it.routed(listener);
    active.connect(ConnectionParameters.DEFAULT.withPrivateData(bytes("who")));
    CmEvent request = it.server.take(CmEventType.CONNECT_REQUEST);
    assertThat(new String(request.privateData(), StandardCharsets.UTF_8)).startsWith("who");
    CmId passive = it.server.keep(request.id());
    QueuePair there = passive.createQueuePair(it.server.pd, it.server.config(PortSpace.UDP));
    assertThat(there.state()).isEqualTo(QpState.RTS);
    passive.accept();

    CmEvent established = it.client.take(CmEventType.ESTABLISHED);
    DatagramParameters to = established.datagram().orElseThrow();
    assertThat(to.qpNumber()).isEqualTo(there.number());
    assertThat(to.qkey()).isEqualTo(0x01234567);
    try (var handle = it.client.pd.createAddressHandle(to.vector())) {
      assertThat(handle.vector().destination()).isEqualTo(it.server.context.queryGid(1, 0));
    }
  }

  @Test
  void refusedDatagramServiceIsUnreachableWithStatus2() throws Exception {
    CmId listener = it.listen(PortSpace.UDP, 8);
    CmId active = it.routed(listener);
    active.connect();
    it.requested().reject(bytes("no"));

    assertThat(it.client.take(CmEventType.UNREACHABLE).status()).isEqualTo(2);
    assertThat(active.queuePair().orElseThrow().state()).isEqualTo(QpState.RTS);
  }

  @Test
  void oversizePrivateDataIsInvalid() throws Exception {
    CmId listener = it.listen(PortSpace.TCP, 8);
    CmId active = it.routed(listener);
    ConnectionParameters request = ConnectionParameters.DEFAULT;
    assertFails(
        Errno.EINVAL,
        () -> active.connect(request.withPrivateData(new byte[57])),
        "57 bytes of private data: 56 fit");
    active.connect(request.withPrivateData(new byte[56]));
    CmId passive = it.requested();
    assertFails(
        Errno.EINVAL, () -> passive.accept(request.withPrivateData(new byte[197])), "196 fit");
    assertFails(Errno.EINVAL, () -> passive.reject(new byte[149]), "148 fit");
    passive.accept(request.withPrivateData(new byte[196]));
    it.client.take(CmEventType.ESTABLISHED);
  }

  @Test
  void callsInTheWrongStateNameIt() {
    CmId id = it.client.id(PortSpace.TCP);
    assertFails(Errno.EINVAL, id::connect, "cannot connect: the identifier is IDLE");
    assertFails(Errno.EINVAL, id::accept, "cannot accept: the identifier is IDLE");
    assertFails(Errno.EINVAL, id::disconnect, "IDLE");
    assertFails(Errno.EINVAL, id::context, "no device");
  }
}
