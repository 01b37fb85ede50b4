package org.hghca.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.BufferedReader;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.hghca.cm.device.DeviceCarriers;
import org.hghca.verbs.Completions;
import org.hghca.verbs.Context;
import org.hghca.verbs.Errno;
import org.hghca.verbs.QpState;
import org.hghca.verbs.RdmaDevices;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.VerbsException;
import org.hghca.verbs.WcStatus;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A server whose process gets SIGKILL, and its software HCA with it. By TCP the kernel tells the
 * client; by InfiniBand nobody is left to tell, and time limits and retries end what waits.
 */
@Tag("long")
@ParameterizedClass
@EnumSource(CarrierKind.class)
class KilledServerTest {
  private static final String SERVER = "127.0.8.1";
  private static final Duration LIMIT = Duration.ofSeconds(5);

  private final CarrierKind kind;
  private final Context device = RdmaDevices.open("model:client?net=udp:127.0.8.2");
  private Process server;
  private BufferedReader output;

  KilledServerTest(CarrierKind kind) {
    this.kind = kind;
  }

  @AfterEach
  void close() throws InterruptedException {
    kill();
    device.close();
  }

  private void kill() throws InterruptedException {
    server.destroyForcibly().waitFor();
  }

  private InetSocketAddress start(boolean accepts) throws Exception {
    server =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "--enable-native-access=ALL-UNNAMED",
                "-Dlogback.configurationFile=" + System.getProperty("logback.configurationFile"),
                "-cp",
                System.getProperty("java.class.path"),
                KilledServer.class.getName(),
                kind.name(),
                SERVER,
                Boolean.toString(accepts))
            .redirectErrorStream(true)
            .start();
    output = server.inputReader();
    return new InetSocketAddress(SERVER, Integer.parseInt(output.readLine()));
  }

  private RdmaConnection connect(InetSocketAddress to, Duration limit) {
    try {
      return RdmaConnection.connect(
          to, RdmaOptions.DEFAULT.withDevice(device).withCarrier(kind).withTimeout(limit));
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void connectedClientLearnsOfItByItsCarrierOrItsNextMessage(boolean sends) throws Exception {
    InetSocketAddress address = start(true);
    try (RdmaConnection connection = connect(address, TwoDevices.SOON)) {
      assertThat(output.readLine()).startsWith("connection over TCP identifier");
      kill();
      if (kind == CarrierKind.TCP) {
        connection.closed().get(TwoDevices.SOON.toSeconds(), TimeUnit.SECONDS);
        assertThat(connection.queuePair().state()).isEqualTo(QpState.ERR);
      } else if (sends) {
        connection.queuePair().postSend(new SendRequest().send().signaled());
        Completions one = new Completions(1);
        while (connection.sendCompletionQueue().poll(one) == 0) {
          Thread.onSpinWait();
        }
        assertThat(one.status(0)).isEqualTo(WcStatus.RETRY_EXC_ERR);
      }
    } // which waits for no answer
    assertThat(DeviceCarriers.count()).isZero();
  }

  @Test
  void clientThatWaitsForTheAnswerFails() throws Exception {
    InetSocketAddress address = start(false);
    CompletableFuture<RdmaConnection> asking =
        CompletableFuture.supplyAsync(() -> connect(address, LIMIT), Thread::startVirtualThread);
    assertThat(output.readLine()).startsWith("request of /127.0.");
    kill();
    assertThatThrownBy(() -> asking.get(TwoDevices.SOON.toSeconds(), TimeUnit.SECONDS))
        .isInstanceOf(ExecutionException.class)
        .cause()
        .isInstanceOfSatisfying(
            VerbsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.ETIMEDOUT))
        .hasMessageContaining(
            kind == CarrierKind.IB
                ? "no RDMA_CM_EVENT_ESTABLISHED within 5000 ms"
                : "by TCP: it closed the socket");
  }
}
