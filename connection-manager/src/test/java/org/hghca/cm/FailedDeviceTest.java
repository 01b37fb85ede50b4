package org.hghca.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.hghca.cm.device.DeviceCarriers;
import org.hghca.cm.ib.FaultyDevice;
import org.hghca.verbs.Context;
import org.hghca.verbs.Errno;
import org.hghca.verbs.RdmaDevices;
import org.hghca.verbs.VerbsException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * What programs learn when queue pair 1 of their device fails: it takes no more receives, which
 * shows with the next datagram that comes.
 */
class FailedDeviceTest {
  private static final Duration SOON = Duration.ofSeconds(20);
  private static final Duration SHORT = Duration.ofSeconds(1);
  private static final String WHY = "a fault of postReceive";

  private final Context left = RdmaDevices.open("model:fails?hub=fails&ip=10.0.0.1");
  private final Context right = RdmaDevices.open("model:works?hub=fails&ip=10.0.0.2");
  private final FaultyDevice faulty = new FaultyDevice(left);
  private final RdmaOptions failing = options(faulty.context());
  private final RdmaOptions working = options(right);

  private static RdmaOptions options(Context context) {
    return RdmaOptions.DEFAULT.withDevice(context).withTimeout(SOON);
  }

  @AfterEach
  void close() {
    assertThat(DeviceCarriers.count()).isZero();
    left.close();
    right.close();
  }

  private static InetSocketAddress at(String address) {
    return new InetSocketAddress(InetAddress.ofLiteral(address), 0);
  }

  private static void assertEio(Throwable thrown) {
    assertThat(thrown)
        .isInstanceOfSatisfying(
            VerbsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EIO))
        .hasMessageContaining(WHY);
  }

  @Test
  void listenerAndCallsFail() throws Exception {
    try (RdmaServer server = RdmaServer.listen(at("10.0.0.1"), failing)) {
      faulty.fail("postReceive", 0);
      CompletableFuture<Void> unanswered =
          CompletableFuture.runAsync(
              () ->
                  assertThatThrownBy(
                          () ->
                              RdmaConnection.connect(
                                  server.localAddress(), working.withTimeout(SHORT)))
                      .hasMessageContaining("ETIMEDOUT"));
      assertThatThrownBy(() -> server.next(SOON)).satisfies(FailedDeviceTest::assertEio);
      assertThatThrownBy(() -> RdmaServer.listen(at("10.0.0.1"), failing))
          .satisfies(FailedDeviceTest::assertEio);
      assertThatThrownBy(() -> RdmaConnection.connect(at("10.0.0.2"), failing))
          .satisfies(FailedDeviceTest::assertEio);
      unanswered.get(20, TimeUnit.SECONDS);
    }
  }

  /** It shows with the refusal of another request. */
  @Test
  void requestWithoutAnAnswerFails() throws Exception {
    try (RdmaServer server = RdmaServer.listen(at("10.0.0.2"), working)) {
      faulty.fail("postReceive", 1024); // those of the start
      CompletableFuture<Void> waits =
          CompletableFuture.runAsync(
              () ->
                  assertThatThrownBy(() -> RdmaConnection.connect(server.localAddress(), failing))
                      .satisfies(FailedDeviceTest::assertEio));
      RdmaRequest request = server.next(SOON).orElseThrow();
      assertThatThrownBy(() -> RdmaConnection.connect(at("10.0.0.2"), failing))
          .isInstanceOf(VerbsException.class);
      waits.get(20, TimeUnit.SECONDS);
      request.reject(new byte[0]);
    }
  }

  @Test
  void connectionEnds() throws Exception {
    try (RdmaServer server = RdmaServer.listen(at("10.0.0.2"), working)) {
      CompletableFuture<RdmaConnection> accepted = new CompletableFuture<>();
      Thread.startVirtualThread(
          () -> {
            try {
              accepted.complete(server.accept(SOON).orElseThrow());
            } catch (VerbsException | InterruptedException e) {
              accepted.completeExceptionally(e);
            }
          });
      try (RdmaConnection active = RdmaConnection.connect(server.localAddress(), failing);
          RdmaConnection passive = accepted.get(20, TimeUnit.SECONDS)) {
        faulty.fail("postReceive", 0);
        passive.id().disconnect(); // its DREQ
        active.closed().get(20, TimeUnit.SECONDS);
      }
    }
  }
}
