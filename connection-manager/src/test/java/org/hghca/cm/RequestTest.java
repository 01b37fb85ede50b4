package org.hghca.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.cm.Failures.assertErrno;

import org.hghca.verbs.Errno;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QueuePair;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** What the passive end does with a request before it answers. */
@ParameterizedClass
@EnumSource(CarrierKind.class)
class RequestTest {
  private final TwoDevices it;

  RequestTest(CarrierKind kind) {
    it = new TwoDevices(kind, "");
  }

  @AfterEach
  void close() {
    it.close();
  }

  @Test
  void ownQueuePairIsSetUpBeforeTheRequestIsAccepted() throws Exception {
    CmId listener = it.listen(PortSpace.TCP, 8);
    CmId active = it.routed(listener);
    active.connect();
    CmId passive = it.server.keep(it.server.take(CmEventType.CONNECT_REQUEST).id());
    try (QueuePair own = it.server.pd.createQueuePair(it.server.config(PortSpace.TCP))) {
      own.modify(passive.initQueuePairAttributes(QpState.INIT));
      own.modify(passive.initQueuePairAttributes(QpState.RTR));
      own.modify(passive.initQueuePairAttributes(QpState.RTS));
      passive.accept(ConnectionParameters.DEFAULT.withQueuePair(own.number(), false));
      it.client.take(CmEventType.ESTABLISHED);
      it.server.take(CmEventType.ESTABLISHED);
      QueuePair peer = active.queuePair().orElseThrow();
      assertThat(own.query().receivePsn()).isEqualTo(peer.query().sendPsn());
      assertThat(own.query().sendPsn()).isEqualTo(peer.query().receivePsn());
      assertThat(own.query().destinationQpn()).isEqualTo(peer.number());
      assertThat(peer.query().destinationQpn()).isEqualTo(own.number());
    }
  }

  @Test
  void acceptAfterThePeerHasGivenUpIsEconnrefused() throws Exception {
    CmId listener = it.listen(PortSpace.TCP, 8);
    CmId active = it.routed(listener);
    active.connect();
    CmEvent event = it.server.channel.await(TwoDevices.SOON).orElseThrow();
    event.acknowledge();
    RdmaRequest request = new RdmaRequest(event);
    active.close();
    it.server.take(CmEventType.REJECTED);
    assertErrno(
            Errno.ECONNREFUSED,
            () -> request.accept(RdmaOptions.DEFAULT.withDevice(it.server.context)))
        .hasMessageContaining("the peer has given up");
  }
}
