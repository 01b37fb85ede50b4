package org.hghca.vfio.user;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** A device and its server, which must leave nothing behind when they are closed; for tests. */
final class Served implements AutoCloseable {
  private final Map<String, Integer> before = Descriptors.open();
  final ServedDevice device = new ServedDevice();
  final UserServer server;
  final String path;

  Served(Path directory) {
    path = directory.resolve("server").toString();
    server = UserServer.start(path, device);
  }

  /** Waits until the server has released a client that hung up. */
  void awaitNobody() {
    await(() -> !server.isConnected());
  }

  static void await(BooleanSupplier condition) {
    long deadline = System.nanoTime() + Duration.ofSeconds(30).toNanos();
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime()).as("time").isLessThan(deadline);
      LockSupport.parkNanos(100_000);
    }
  }

  @Override
  public void close() {
    server.close();
    assertThat(Path.of(path)).doesNotExist();
    assertThat(Descriptors.open()).isEqualTo(before);
    assertThat(device.calls).endsWith("close");
  }
}
