package org.hghca.cm.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.hghca.verbs.Context;
import org.hghca.verbs.RdmaDevices;
import org.hghca.verbs.VerbsException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Users of one device who come and leave at the same time. */
class DeviceCarriersTest {
  private static final String LOCATOR = "model:shared?hub=shared&ip=10.0.0.1";
  private static final int THREADS = 4;
  private static final int ROUNDS = 50;

  @AfterEach
  void nothingIsLeft() {
    assertThat(DeviceCarriers.count()).isZero();
  }

  private static DeviceCarriers use() {
    return DeviceCarriers.use(LOCATOR, () -> RdmaDevices.open(LOCATOR), true);
  }

  @Test
  void usersWhoComeWhileOthersLeaveFindTheDeviceOpen() throws Exception {
    List<CompletableFuture<Void>> users = new ArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      users.add(
          CompletableFuture.runAsync(
              () -> {
                for (int round = 0; round < ROUNDS; round++) {
                  DeviceCarriers carriers = use();
                  try {
                    assertThat(carriers.ib()).isNotNull();
                    assertThat(carriers.tcp()).isNotNull();
                  } finally {
                    carriers.release();
                  }
                }
              },
              Thread::startVirtualThread));
    }
    for (CompletableFuture<Void> user : users) {
      user.get(50, TimeUnit.SECONDS);
    }
  }

  /** A context whose end takes until a latch says so. */
  private static Context closing(CountDownLatch begins, CountDownLatch ends, List<String> log) {
    Context real = RdmaDevices.open(LOCATOR);
    return (Context)
        Proxy.newProxyInstance(
            Context.class.getClassLoader(),
            new Class<?>[] {Context.class},
            (_, method, arguments) -> {
              if (method.getName().equals("close")) {
                begins.countDown();
                assertThat(ends.await(20, TimeUnit.SECONDS)).isTrue();
                log.add("closed");
              }
              try {
                return method.invoke(real, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  @Test
  void deviceIsOpenedAgainOnlyWhenItIsClosed() throws Exception {
    List<String> log = new ArrayList<>();
    CountDownLatch begins = new CountDownLatch(1);
    CountDownLatch ends = new CountDownLatch(1);
    DeviceCarriers first =
        DeviceCarriers.use(LOCATOR, () -> closing(begins, ends, log), /* owned= */ true);
    Thread leaving = Thread.ofPlatform().start(first::release);
    assertThat(begins.await(20, TimeUnit.SECONDS)).isTrue();

    assertThatThrownBy(first::retain)
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("is being closed: ENODEV");

    CompletableFuture<DeviceCarriers> second = new CompletableFuture<>();
    AtomicReference<Context> again = new AtomicReference<>();
    Thread coming =
        Thread.ofPlatform()
            .start(
                () ->
                    second.complete(
                        DeviceCarriers.use(
                            LOCATOR,
                            () -> {
                              log.add("opened");
                              again.set(RdmaDevices.open(LOCATOR));
                              return again.get();
                            },
                            true)));
    while (coming.getState() != Thread.State.BLOCKED && !second.isDone()) {
      Thread.onSpinWait();
    }
    ends.countDown();
    DeviceCarriers shared = second.get(20, TimeUnit.SECONDS);
    assertThat(shared.context()).isSameAs(again.get());
    shared.release();
    leaving.join();
    assertThat(log).containsExactly("closed", "opened");
  }

  @Test
  void deviceThatOpensSlowlyKeepsNoOtherWaiting() throws Exception {
    CountDownLatch opens = new CountDownLatch(1);
    CompletableFuture<DeviceCarriers> slow =
        CompletableFuture.supplyAsync(
            () ->
                DeviceCarriers.use(
                    "slow",
                    () -> {
                      await(opens);
                      return RdmaDevices.open("model:slow");
                    },
                    true),
            Thread::startVirtualThread);
    DeviceCarriers other =
        CompletableFuture.supplyAsync(DeviceCarriersTest::use, Thread::startVirtualThread)
            .get(20, TimeUnit.SECONDS);
    assertThat(slow).isNotDone();
    other.release();
    opens.countDown();
    slow.get(20, TimeUnit.SECONDS).release();
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(20, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void deviceThatDoesNotOpenHasNoUsers() {
    assertThatThrownBy(
            () ->
                DeviceCarriers.use(
                    LOCATOR,
                    () -> {
                      throw new IllegalStateException("it does not open");
                    },
                    true))
        .hasMessage("it does not open");
    assertThat(DeviceCarriers.count()).isZero();
    use().release();
  }
}
