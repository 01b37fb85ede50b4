package org.hghca.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.cm.Failures.assertErrno;

import java.util.Optional;
import org.hghca.verbs.Errno;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.WrapMemory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Memory that the queue pairs of both ends offer for the PSN wrap: the TCP carrier exchanges it.
 */
@ParameterizedClass
@EnumSource(CarrierKind.class)
class WrapMemoryTest {
  private static final Optional<WrapMemory> OF_CLIENT =
      Optional.of(new WrapMemory(0x8100_0002, 0xffff_ffff_ffff_e000L, 4096));
  private static final Optional<WrapMemory> OF_SERVER =
      Optional.of(new WrapMemory(0x7, 0x1_0000, 8192));

  private final TwoDevices it;
  private final OfferingQueuePairs atClient = new OfferingQueuePairs(OF_CLIENT);
  private final OfferingQueuePairs atServer = new OfferingQueuePairs(OF_SERVER);

  WrapMemoryTest(CarrierKind kind) {
    it = new TwoDevices(kind, "");
  }

  @AfterEach
  void close() {
    it.close();
  }

  private boolean carries() {
    return it.kind == CarrierKind.TCP;
  }

  private Optional<WrapMemory> carried(Optional<WrapMemory> offer) {
    return carries() ? offer : Optional.empty();
  }

  /** An identifier with a route to a new listener, and no queue pair. */
  private CmId routed() throws InterruptedException {
    CmId listener = it.listen(PortSpace.TCP, 8);
    CmId id = it.client.id(PortSpace.TCP);
    id.carrier(it.kind);
    id.resolveAddress(listener.localAddress(), TwoDevices.SOON);
    it.client.take(CmEventType.ADDR_RESOLVED);
    id.resolveRoute(TwoDevices.SOON);
    it.client.take(CmEventType.ROUTE_RESOLVED);
    return id;
  }

  private void makeOfClient(CmId id) {
    var _ = id.createQueuePair(atClient.in(it.client.pd), it.client.config(PortSpace.TCP));
  }

  private void makeOfServer(CmId id) {
    var _ = id.createQueuePair(atServer.in(it.server.pd), it.server.config(PortSpace.TCP));
  }

  private void assertSteps(OfferingQueuePairs queuePairs, Optional<WrapMemory> taken) {
    if (carries()) {
      assertThat(queuePairs.steps)
          .containsExactly("INIT", "take " + taken.orElseThrow(), "RTR", "RTS");
    } else {
      assertThat(queuePairs.steps).containsExactly("INIT", "RTR", "RTS");
    }
  }

  @Test
  void queuePairsTakeWhatThePeerOffersBeforeRtr() throws Exception {
    CmId active = routed();
    makeOfClient(active);
    active.connect();
    CmEvent request = it.server.take(CmEventType.CONNECT_REQUEST);
    CmId passive = it.server.keep(request.id());
    makeOfServer(passive);
    passive.accept();
    CmEvent established = it.client.take(CmEventType.ESTABLISHED);
    it.server.take(CmEventType.ESTABLISHED);

    assertThat(request.parameters().wrapMemory()).isEqualTo(carried(OF_CLIENT));
    assertThat(established.parameters().wrapMemory()).isEqualTo(carried(OF_SERVER));
    assertSteps(atServer, OF_CLIENT);
    assertSteps(atClient, OF_SERVER);
  }

  @Test
  void nothingIsTakenFromAPeerThatOffersNothing() throws Exception {
    CmId active = routed();
    makeOfClient(active);
    active.connect();
    CmId passive = it.requested();
    passive.accept();
    CmEvent established = it.client.take(CmEventType.ESTABLISHED);
    it.server.take(CmEventType.ESTABLISHED);

    assertThat(established.parameters().wrapMemory()).isEmpty();
    assertThat(atClient.steps).containsExactly("INIT", "RTR", "RTS");
  }

  @Test
  void programsWithQueuePairsOfTheirOwnOfferByTheParameters() throws Exception {
    CmId active = routed();
    try (QueuePair here = it.client.pd.createQueuePair(it.client.config(PortSpace.TCP));
        QueuePair there = it.server.pd.createQueuePair(it.server.config(PortSpace.TCP))) {
      active.connect(
          ConnectionParameters.DEFAULT
              .withQueuePair(here.number(), false)
              .withWrapMemory(OF_CLIENT));
      CmEvent request = it.server.take(CmEventType.CONNECT_REQUEST);
      CmId passive = it.server.keep(request.id());
      for (QpState state : new QpState[] {QpState.INIT, QpState.RTR, QpState.RTS}) {
        there.modify(passive.initQueuePairAttributes(state));
      }
      passive.accept(
          ConnectionParameters.DEFAULT
              .withQueuePair(there.number(), false)
              .withWrapMemory(OF_SERVER));
      CmEvent response = it.client.take(CmEventType.CONNECT_RESPONSE);

      assertThat(request.parameters().wrapMemory()).isEqualTo(carried(OF_CLIENT));
      assertThat(response.parameters().wrapMemory()).isEqualTo(carried(OF_SERVER));
    }
  }

  @Test
  void memoryThatTheAcceptingDeviceRefusesIsTheErrorOfAccept() throws Exception {
    CmId active = routed();
    makeOfClient(active);
    active.connect();
    CmId passive = it.server.keep(it.server.take(CmEventType.CONNECT_REQUEST).id());
    makeOfServer(passive);
    atServer.refusing = true;
    if (carries()) {
      assertErrno(Errno.EINVAL, passive::accept)
          .hasMessageContaining("refused " + OF_CLIENT.orElseThrow());
      passive.reject(new byte[0]);
      it.client.take(CmEventType.REJECTED);
    } else {
      passive.accept();
      it.client.take(CmEventType.ESTABLISHED);
    }
  }

  @Test
  void memoryThatTheAskingDeviceRefusesIsAnErrorOfConnecting() throws Exception {
    CmId active = routed();
    makeOfClient(active);
    active.connect();
    CmId passive = it.server.keep(it.server.take(CmEventType.CONNECT_REQUEST).id());
    makeOfServer(passive);
    atClient.refusing = true;
    passive.accept();
    if (carries()) {
      CmEvent error = it.client.take(CmEventType.CONNECT_ERROR);
      assertThat(error.status()).isEqualTo(-Errno.EINVAL.number());
      assertThat(error.message()).contains("refused " + OF_SERVER.orElseThrow());
      it.server.take(CmEventType.REJECTED);
    } else {
      it.client.take(CmEventType.ESTABLISHED);
    }
  }
}
