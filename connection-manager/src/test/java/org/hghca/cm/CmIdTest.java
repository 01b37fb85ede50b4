package org.hghca.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.cm.Failures.assertErrno;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.Completions;
import org.hghca.verbs.Errno;
import org.hghca.verbs.Gid;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.WcStatus;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Identifiers over each carrier: events in librdmacm's order, with its status and data. */
@ParameterizedClass
@EnumSource(CarrierKind.class)
class CmIdTest {
  private final TwoDevices it;

  CmIdTest(CarrierKind kind) {
    it = new TwoDevices(kind, "");
  }

  @AfterEach
  void close() {
    it.close();
  }

  private static void assertFails(Errno errno, ThrowingCallable call, String words) {
    assertErrno(errno, call).hasMessageContaining(words);
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
  void portWithoutAListenerIsReason8() throws Exception {
    CmId listener = it.listen(PortSpace.TCP, 8);
    CmId active = it.routed(listener);
    listener.close();
    active.connect();

    CmEvent event = it.client.take(CmEventType.REJECTED);
    assertThat(event.status()).isEqualTo(8);
    assertThat(event.message()).contains("no listener on the port");
  }

  @Test
  void ownQueuePairGetsAResponseAndEstablishes() throws Exception {
    CmId listener = it.listen(PortSpace.TCP, 8);
    CmId active = it.client.id(PortSpace.TCP);
    active.carrier(it.kind);
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
      assertThat(handle.vector().destination())
          .isEqualTo(
              it.kind == CarrierKind.TCP
                  ? it.server.context.queryGid(1, 0)
                  : Gid.of(InetAddress.ofLiteral("10.0.0.2")));
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

  @Test
  void portInUseIsEaddrinuseUnlessBothReuseIt() {
    CmId first = it.listen(PortSpace.TCP, 8);
    CmId second = it.server.id(PortSpace.TCP);
    assertFails(Errno.EADDRINUSE, () -> second.bind(first.localAddress()), "is in use at");
    it.server.id(PortSpace.UDP).bind(first.localAddress());
    CmId one = it.server.id(PortSpace.TCP);
    one.reuseAddress(true);
    one.bind(it.anyPort());
    CmId other = it.server.id(PortSpace.TCP);
    other.reuseAddress(true);
    other.bind(one.localAddress());
    assertThat(other.localAddress()).isEqualTo(one.localAddress());
  }

  @Test
  void requestsBeyondTheBacklogWaitUntilOneIsAnswered() throws Exception {
    CmId listener = it.listen(PortSpace.TCP, 1);
    CmId one = it.routed(listener);
    CmId other = it.routed(listener);
    one.connect();
    CmId passive = it.requested();
    try (FullBacklog full = new FullBacklog()) {
      other.connect();
      full.await();
    }
    assertThat(it.server.channel.poll()).isEmpty();
    passive.reject(new byte[0]);
    it.client.take(CmEventType.REJECTED);
    it.requested().reject(new byte[0]);
    it.client.take(CmEventType.REJECTED);
  }

  @Test
  void closedListenerRefusesRequestsThatWereNotTaken() throws Exception {
    CmId listener = it.listen(PortSpace.TCP, 2);
    CmId active = it.routed(listener);
    active.connect();
    CmEvent request = it.server.channel.await(TwoDevices.SOON).orElseThrow();
    CmId second = it.routed(listener);
    CmId third = it.routed(listener);
    try (FullBacklog full = new FullBacklog()) {
      second.connect();
      third.connect();
      full.await(); // one is in the backlog, and the other waits for room in it
    }
    CmId taken = it.server.keep(request.id());
    request.acknowledge();
    listener.close();
    List<CmId> refused =
        List.of(
            it.client.take(CmEventType.REJECTED).id(), it.client.take(CmEventType.REJECTED).id());
    assertThat(refused).containsExactlyInAnyOrder(second, third);
    taken.createQueuePair(it.server.pd, it.server.config(PortSpace.TCP));
    taken.accept();
    assertThat(it.client.take(CmEventType.ESTABLISHED).id()).isEqualTo(active);
  }

  @Test
  void activeEndThatIsClosedBeforeTheAnswerIsARefusal() throws Exception {
    CmId listener = it.listen(PortSpace.TCP, 8);
    CmId active = it.routed(listener);
    active.connect();
    CmId passive = it.requested();
    active.close();
    assertThat(it.server.take(CmEventType.REJECTED).status()).isEqualTo(4);
    assertFails(Errno.EINVAL, passive::accept, "cannot accept: the identifier is FAILED");
  }

  @Test
  void responseThatHasFailedUntakenIsItsFailure() throws Exception {
    CmId listener = it.listen(PortSpace.TCP, 8);
    CmId active = it.routed(listener);
    active.connect();
    CmId passive = it.requested();
    passive.accept();
    while (it.client.channel.toString().endsWith(" 0 events")) {
      Thread.onSpinWait();
    }
    passive.close();
    while (it.client.channel.toString().endsWith(" 1 events")) {
      Thread.onSpinWait();
    }
    assertThat(it.client.take(CmEventType.REJECTED).id()).isEqualTo(active);
    assertThat(active.queuePair().orElseThrow().state()).isEqualTo(QpState.ERR);
  }

  @Test
  void closeWaitsForAcknowledgements() throws Exception {
    CmId listener = it.listen(PortSpace.TCP, 8);
    CmId active = it.client.id(PortSpace.TCP);
    active.carrier(it.kind);
    active.resolveAddress(listener.localAddress(), TwoDevices.SOON);
    CmEvent event = it.client.channel.await(TwoDevices.SOON).orElseThrow();
    Thread closing = Thread.ofVirtual().start(active::close);
    while (closing.getState() != Thread.State.TIMED_WAITING) {
      Thread.onSpinWait();
    }
    event.acknowledge();
    closing.join();
    assertThat(active.toString()).contains("CLOSED");
  }

  @Test
  void migrationMovesEventsThatWereNotTaken() throws Exception {
    CmId listener = it.listen(PortSpace.TCP, 8);
    try (EventChannel other = EventChannel.open(it.client.context)) {
      CmId id = it.client.id(PortSpace.TCP);
      id.carrier(it.kind);
      id.resolveAddress(listener.localAddress(), TwoDevices.SOON);
      it.client.take(CmEventType.ADDR_RESOLVED);
      id.resolveRoute(TwoDevices.SOON);
      id.migrate(other);
      assertThat(it.client.channel.poll()).isEmpty();
      CmEvent moved = other.poll().orElseThrow();
      assertThat(moved.type()).isEqualTo(CmEventType.ROUTE_RESOLVED);
      moved.acknowledge();
      id.close();
    }
  }

  @Test
  void synchronousIdentifiersWaitForTheirEvents() throws Exception {
    CmDevices servers = CmDevices.of(it.server.context);
    try (CmId listener = CmId.open(PortSpace.TCP, servers);
        CmId active = CmId.open(PortSpace.TCP, CmDevices.of(it.client.context))) {
      listener.carrier(it.kind);
      listener.bind(it.anyPort());
      listener.listen(4);
      Thread server = Thread.ofVirtual().start(() -> acceptAndReject(listener));
      active.carrier(it.kind);
      active.resolveAddress(listener.localAddress(), TwoDevices.SOON);
      active.resolveRoute(TwoDevices.SOON);
      active.createQueuePair(it.client.pd, it.client.config(PortSpace.TCP));
      assertFails(Errno.ECONNREFUSED, active::connect, "the peer refuses");
      server.join();
    }
  }

  private static void acceptAndReject(CmId listener) {
    try (CmEvent request = listener.getRequest(TwoDevices.SOON).orElseThrow();
        CmId passive = request.id()) {
      passive.reject(new byte[0]);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void groupIsJoinedByWhoTakesTheEvent() throws Exception {
    CmId id = it.client.id(PortSpace.UDP);
    id.carrier(it.kind);
    id.bind(new InetSocketAddress(InetAddress.ofLiteral("10.0.0.1"), 0));
    QueuePair pair = id.createQueuePair(it.client.pd, it.client.config(PortSpace.UDP));
    InetAddress group = InetAddress.ofLiteral("239.1.2.3");
    id.joinMulticast(group);
    DatagramParameters to = it.client.take(CmEventType.MULTICAST_JOIN).datagram().orElseThrow();
    assertThat(to.qpNumber()).isEqualTo(QueuePair.MULTICAST_NUMBER);
    assertThat(to.vector().destination()).isEqualTo(Gid.of(group));
    assertFails(Errno.EBUSY, pair::close, "group");
    id.leaveMulticast(group);
    assertFails(Errno.EADDRNOTAVAIL, () -> id.leaveMulticast(group), "has not joined");
    assertFails(
        Errno.EINVAL, () -> id.joinMulticast(InetAddress.ofLiteral("10.0.0.9")), "of a group");
  }

  @Test
  void unknownLocalAddressNamesTheDevices() {
    CmDevices both = CmDevices.of(it.client.context, it.server.context);
    try (EventChannel channel = EventChannel.open(both);
        CmId id = channel.createId(PortSpace.TCP)) {
      InetSocketAddress elsewhere = new InetSocketAddress(InetAddress.ofLiteral("192.0.2.1"), 0);
      assertFails(Errno.ENODEV, () -> id.bind(elsewhere), "no RDMA device has the address");
      id.bind(new InetSocketAddress(InetAddress.ofLiteral("10.0.0.2"), 0));
      assertThat(id.context()).isEqualTo(it.server.context);
    }
  }
}
