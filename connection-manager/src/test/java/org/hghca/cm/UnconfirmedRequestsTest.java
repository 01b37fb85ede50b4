package org.hghca.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.hghca.verbs.Errno;
import org.hghca.verbs.QpState;
import org.hghca.verbs.VerbsException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** A server that accepts one connection after another, and peers that never confirm. */
@ParameterizedClass
@EnumSource(CarrierKind.class)
class UnconfirmedRequestsTest {
  private static final int STRANGERS = 30;

  /** Longer than the test: nothing here may wait for it. */
  private static final Duration LIMIT = Duration.ofMinutes(10);

  private final TwoDevices it;
  private final AtomicInteger answered = new AtomicInteger();

  UnconfirmedRequestsTest(CarrierKind kind) {
    it = new TwoDevices(kind, "");
  }

  @AfterEach
  void close() {
    it.close();
  }

  private RdmaServer listen(Duration timeout) {
    return RdmaServer.listen(
        it.anyPort(),
        RdmaOptions.DEFAULT
            .withCarrier(it.kind)
            .withDevice(it.server.context)
            .withTimeout(timeout)
            .withDepths(1, 1)
            .withPrepare(_ -> answered.incrementAndGet()));
  }

  /** Peers that take no event, and so confirm nothing. */
  private List<CmId> strangers(RdmaServer server) throws InterruptedException {
    List<CmId> ids = new ArrayList<>();
    for (int i = 0; i < STRANGERS; i++) {
      CmId id = it.client.id(PortSpace.TCP);
      id.carrier(it.kind);
      id.resolveAddress(server.localAddress(), TwoDevices.SOON);
      it.client.take(CmEventType.ADDR_RESOLVED);
      id.resolveRoute(TwoDevices.SOON);
      it.client.take(CmEventType.ROUTE_RESOLVED);
      id.createQueuePair(it.client.pd, it.client.config(PortSpace.TCP));
      ids.add(id);
    }
    ids.forEach(CmId::connect);
    return ids;
  }

  @Test
  void holdUpNobody() throws Exception {
    try (RdmaServer server = listen(LIMIT)) {
      strangers(server);
      for (int i = 0; i < 3; i++) {
        CompletableFuture<RdmaConnection> accepted = TwoDevices.accept(server);
        try (RdmaConnection active =
                RdmaConnection.connect(
                    server.localAddress(),
                    RdmaOptions.DEFAULT
                        .withCarrier(it.kind)
                        .withDevice(it.client.context)
                        .withTimeout(TwoDevices.SOON));
            RdmaConnection passive = accepted.get(TwoDevices.SOON.toSeconds(), TimeUnit.SECONDS)) {
          assertThat(active.queuePair().state()).isEqualTo(QpState.RTS);
          assertThat(passive.queuePair().state()).isEqualTo(QpState.RTS);
        }
      }
      assertThat(answered.get()).isEqualTo(STRANGERS + 3);
    }
  }

  @Test
  void areDroppedAtTheTimeLimit() throws Exception {
    try (RdmaServer server = listen(Duration.ofMillis(500))) {
      List<CmId> strangers = strangers(server);
      while (answered.get() < STRANGERS) {
        assertThat(server.accept(Duration.ofMillis(100))).isEmpty();
      }
      while (!strangers.stream().allMatch(id -> id.toString().endsWith("FAILED"))) {
        Thread.onSpinWait();
      }
    }
  }

  @Test
  void endWithTheServerAsTheWaitDoes() throws Exception {
    RdmaServer server = listen(LIMIT);
    strangers(server);
    CompletableFuture<RdmaConnection> accepted = TwoDevices.accept(server);
    while (answered.get() < STRANGERS) {
      Thread.onSpinWait();
    }
    closeWhenAnswered(server);
    assertThatThrownBy(() -> accepted.get(TwoDevices.SOON.toSeconds(), TimeUnit.SECONDS))
        .hasCauseInstanceOf(VerbsException.class)
        .hasMessageContaining("closed");
  }

  /** The last request may be on its way from the channel to its answer. */
  private static void closeWhenAnswered(RdmaServer server) {
    while (true) {
      try {
        server.close();
        return;
      } catch (VerbsException e) {
        assertThat(e.errno()).isEqualTo(Errno.EBUSY);
      }
    }
  }
}
