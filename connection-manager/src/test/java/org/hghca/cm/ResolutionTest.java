package org.hghca.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.cm.Failures.assertErrno;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.hghca.cm.device.DeviceCarriers;
import org.hghca.cm.device.SharedDevice;
import org.hghca.verbs.Context;
import org.hghca.verbs.Errno;
import org.hghca.verbs.RdmaDevices;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Resolving an address, of a device whose opening takes as long as the test wants. */
class ResolutionTest {
  private static final Duration SOON = TwoDevices.SOON;
  private static final Duration SHORT = Duration.ofMillis(50);
  private static final InetSocketAddress LOCAL =
      new InetSocketAddress(InetAddress.ofLiteral("10.0.0.1"), 0);
  private static final InetSocketAddress REMOTE =
      new InetSocketAddress(InetAddress.ofLiteral("10.0.0.2"), 4711);

  private final Context context = RdmaDevices.open("model:resolves?cable=resolves&ip=10.0.0.1");
  private final EventChannel channel = EventChannel.open(context);
  private final CountDownLatch opening = new CountDownLatch(1);
  private final CompletableFuture<Context> opened = new CompletableFuture<>();
  private final CompletableFuture<Void> user = new CompletableFuture<>();

  @AfterEach
  void close() {
    channel.close();
    context.close();
  }

  /** Another user begins to open the device, and ends with {@link #open}. */
  private void beginToOpen() throws InterruptedException {
    Thread.ofPlatform()
        .daemon()
        .start(
            () -> {
              DeviceCarriers.use(context.device().locator(), this::awaitOpened, false).release();
              user.complete(null);
            });
    opening.await();
  }

  private Context awaitOpened() {
    opening.countDown();
    return opened.join();
  }

  private void open() throws Exception {
    opened.complete(context);
    user.get(20, TimeUnit.SECONDS);
  }

  private static CmId identifier(CmId id) {
    id.carrier(CarrierKind.IB);
    return id;
  }

  private static void awaitState(CmId id, CmState state) {
    while (!id.toString().endsWith(state.toString())) {
      Thread.onSpinWait();
    }
  }

  @Test
  void limitOfAnAsynchronousResolution() throws Exception {
    beginToOpen();
    try (CmId id = identifier(channel.createId(PortSpace.TCP))) {
      id.resolveAddress(REMOTE, SHORT);
      try (CmEvent event = channel.await(SOON).orElseThrow()) {
        assertThat(event.type()).isEqualTo(CmEventType.ADDR_ERROR);
        assertThat(event.status()).isEqualTo(-Errno.ETIMEDOUT.number());
        assertThat(event.message()).contains("no device that leads to 10.0.0.2", "50 ms");
      }
      open();
      id.resolveAddress(REMOTE, SOON); // it is as before
      try (CmEvent event = channel.await(SOON).orElseThrow()) {
        assertThat(event.type()).isEqualTo(CmEventType.ADDR_RESOLVED);
      }
    }
  }

  @Test
  void limitOfASynchronousResolution() throws Exception {
    beginToOpen();
    try (CmId id = identifier(CmId.open(PortSpace.TCP, CmDevices.of(context)))) {
      assertErrno(Errno.ETIMEDOUT, () -> id.resolveAddress(REMOTE, SHORT));
      open();
      id.resolveAddress(REMOTE, SOON);
      id.resolveRoute(SOON);
    }
  }

  @Test
  void lateEventOfACallThatGaveUpIsNotTakenByTheNext() throws Exception {
    beginToOpen();
    try (CmId id = identifier(CmId.open(PortSpace.TCP, CmDevices.of(context)))) {
      Thread.currentThread().interrupt();
      assertErrno(Errno.EAGAIN, () -> id.resolveAddress(REMOTE, SOON));
      assertThat(Thread.interrupted()).isTrue();
      open();
      awaitState(id, CmState.ADDRESS_RESOLVED);
      id.resolveRoute(SOON);
      assertThat(id.path()).isPresent();
    }
  }

  @Test
  void identifierThatIsClosedMeanwhileLeavesNoUserOfTheDevice() throws Exception {
    beginToOpen();
    CmId id = identifier(channel.createId(PortSpace.TCP));
    id.resolveAddress(REMOTE, SOON);
    id.close();
    open();
    while (DeviceCarriers.count() > 0) {
      Thread.onSpinWait();
    }
  }

  /** Its device is known by the address: it is released once. */
  @Test
  void boundIdentifierThatIsClosedMeanwhileReleasesItsDeviceOnce() {
    SharedDevice other = SharedDevice.of(context);
    CmId id = identifier(channel.createId(PortSpace.TCP));
    id.bind(LOCAL);
    synchronized (id.life()) {
      id.resolveAddress(REMOTE, SOON);
      id.close();
    }
    while (NothingLeft.left().toString().contains("hghca-cm-resolve")) {
      Thread.onSpinWait();
    }
    channel.close();
    assertThat(DeviceCarriers.count()).as("the other user's").isEqualTo(1);
    other.release();
    assertThat(DeviceCarriers.count()).isZero();
  }
}
