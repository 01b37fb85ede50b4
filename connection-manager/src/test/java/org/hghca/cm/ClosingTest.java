package org.hghca.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.hghca.cm.Failures.assertErrno;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.hghca.cm.device.DeviceCarriers;
import org.hghca.cm.ib.FaultyDevice;
import org.hghca.verbs.Context;
import org.hghca.verbs.Errno;
import org.hghca.verbs.Gid;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.RdmaDevices;
import org.hghca.verbs.VerbsException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What closing releases although something fails, and under no lock. */
class ClosingTest {
  private final TwoDevices it = new TwoDevices(CarrierKind.TCP, "");
  private final FaultyDevice faulty = new FaultyDevice(it.client.context);

  @AfterEach
  void close() {
    it.close(); // fails with EBUSY if something of a device is open
  }

  private RdmaOptions options(Context context) {
    return RdmaOptions.DEFAULT
        .withDevice(context)
        .withCarrier(CarrierKind.TCP)
        .withTimeout(TwoDevices.SOON);
  }

  @Test
  void connectionOfADeviceThatRefusesTheTransitionIsClosed() throws Exception {
    try (RdmaServer server = RdmaServer.listen(it.anyPort(), options(it.server.context))) {
      CompletableFuture<RdmaConnection> accepted = TwoDevices.accept(server);
      RdmaConnection connection =
          RdmaConnection.connect(server.localAddress(), options(faulty.context()));
      try (RdmaConnection peer = accepted.get()) {
        faulty.fail("modify", 0);
        connection.close();
        assertThat(connection.closed()).isDone();
        peer.closed().get(20, TimeUnit.SECONDS);
      }
    }
  }

  /** Its failure at the other end, of which the program knows nothing, is a warning. */
  @Test
  void onlyAQueuePairThatTheProgramHasClosedMayStayOutOfErr() throws Exception {
    try (Warnings warnings = new Warnings(IdQueuePair.class);
        RdmaServer server = RdmaServer.listen(it.anyPort(), options(it.server.context))) {
      CompletableFuture<RdmaConnection> accepted = TwoDevices.accept(server);
      RdmaConnection connection =
          RdmaConnection.connect(server.localAddress(), options(faulty.context()));
      RdmaConnection peer = accepted.get();
      peer.queuePair().close();
      peer.close();
      connection.closed().get(20, TimeUnit.SECONDS);
      assertThat(warnings.messages()).isEmpty();
      CompletableFuture<RdmaConnection> next = TwoDevices.accept(server);
      RdmaConnection failing =
          RdmaConnection.connect(server.localAddress(), options(faulty.context()));
      faulty.fail("modify", 0);
      failing.close();
      assertThat(warnings.messages()).singleElement().asString().contains("is not in ERR");
      faulty.failNothing();
      next.get().close();
      connection.close();
    }
  }

  /** The program closes it between the look at it and the transition. */
  @Test
  void queuePairThatIsClosedMeanwhileIsNoWarning() throws Exception {
    HookedDevice hooked = new HookedDevice(it.client.context);
    try (Warnings warnings = new Warnings(IdQueuePair.class);
        RdmaServer server = RdmaServer.listen(it.anyPort(), options(it.server.context))) {
      CompletableFuture<RdmaConnection> accepted = TwoDevices.accept(server);
      RdmaConnection connection =
          RdmaConnection.connect(server.localAddress(), options(hooked.context()));
      hooked.before("modify", connection.queuePair()::close);
      connection.close();
      accepted.get().close();
      assertThat(warnings.messages()).isEmpty();
    }
  }

  @Test
  void disconnectedIdentifierOfSuchADeviceGetsItsEvents() throws Exception {
    CmId listener = it.listen(PortSpace.TCP, 1);
    try (EventChannel channel = EventChannel.open(faulty.context());
        CmId active = channel.createId(PortSpace.TCP);
        var domain = faulty.context().allocateProtectionDomain()) {
      active.carrier(CarrierKind.TCP);
      active.resolveAddress(listener.localAddress(), TwoDevices.SOON);
      take(channel, CmEventType.ADDR_RESOLVED);
      active.resolveRoute(TwoDevices.SOON);
      take(channel, CmEventType.ROUTE_RESOLVED);
      active.createQueuePair(domain, it.client.config(PortSpace.TCP));
      active.connect();
      it.requested().accept();
      take(channel, CmEventType.ESTABLISHED);
      faulty.fail("modify", 0);
      active.disconnect();
      it.server.take(CmEventType.ESTABLISHED);
      it.server.take(CmEventType.DISCONNECTED);
      assertThatCode(active::close).doesNotThrowAnyException();
    }
  }

  private static void take(EventChannel channel, CmEventType type) throws InterruptedException {
    try (CmEvent event = channel.await(TwoDevices.SOON).orElseThrow()) {
      assertThat(event.type()).isEqualTo(type);
    }
  }

  @Test
  void releasesAfterOneThatFailsAreMade() throws Exception {
    Gid group = Gid.of(InetAddress.ofLiteral("239.1.2.3"));
    QueuePair pair;
    var domain = faulty.context().allocateProtectionDomain();
    try (EventChannel channel = EventChannel.open(faulty.context())) {
      CmId id = channel.createId(PortSpace.UDP);
      id.bind(new InetSocketAddress(InetAddress.ofLiteral("10.0.0.1"), 4711));
      pair = id.createQueuePair(domain, it.client.config(PortSpace.UDP));
      id.joinMulticast(group.address());
      take(channel, CmEventType.MULTICAST_JOIN);
      faulty.fail("detachMulticast", 0);
      assertErrno(Errno.EIO, id::close)
          .satisfies(
              e -> assertThat(e.getSuppressed()).singleElement().asString().contains("EBUSY"));
      CmId next = channel.createId(PortSpace.UDP);
      next.bind(new InetSocketAddress(InetAddress.ofLiteral("10.0.0.1"), 4711));
      next.close();
    }
    assertThat(DeviceCarriers.count()).isZero();
    faulty.fail("", 0);
    pair.detachMulticast(group);
    pair.close();
    domain.close();
  }

  /** The second one comes while the first is about to close the protection domain. */
  @Test
  void ofTwoClosersOneWaits() throws Exception {
    HookedDevice hooked = new HookedDevice(it.client.context);
    try (RdmaServer server = RdmaServer.listen(it.anyPort(), options(it.server.context))) {
      CompletableFuture<RdmaConnection> accepted = TwoDevices.accept(server);
      RdmaConnection connection =
          RdmaConnection.connect(server.localAddress(), options(hooked.context()));
      AtomicReference<Throwable> failure = new AtomicReference<>();
      Thread second =
          Thread.ofPlatform().unstarted(() -> failure.set(catchThrowable(connection::close)));
      hooked.before(
          "close",
          () -> {
            second.start();
            while (second.isAlive() && second.getState() != Thread.State.BLOCKED) {
              Thread.onSpinWait();
            }
          });
      connection.close();
      second.join();
      accepted.get().close();
      assertThat(failure.get()).isNull();
    }
  }

  /** The carrier of the first device delivers a request while the second one's port is taken. */
  @Test
  void failedListenReleasesItsDevicesWithoutTheLockOfTheIdentifier() throws Exception {
    try (TwoDevices ib = new TwoDevices(CarrierKind.IB, "");
        Context other = RdmaDevices.open("model:cannot-listen?cable=cannot-listen");
        EventChannel elsewhere = EventChannel.open(other);
        CmId taken = elsewhere.createId(PortSpace.TCP)) {
      HookedDevice second = new HookedDevice(other);
      EventChannel channel = EventChannel.open(CmDevices.of(ib.server.context, second.context()));
      CmId listener = channel.createId(PortSpace.TCP);
      listener.carrier(CarrierKind.IB);
      listener.bind(new InetSocketAddress(0));
      int port = listener.localAddress().getPort();
      taken.carrier(CarrierKind.IB);
      taken.bind(new InetSocketAddress(port));
      taken.listen(1);
      second.before(
          "device",
          () -> {
            ask(ib, port);
            awaitBlockedCarrier(ib.server.context);
          });
      CompletableFuture<Throwable> failure = new CompletableFuture<>();
      Thread.ofPlatform()
          .daemon()
          .start(() -> failure.complete(catchThrowable(() -> listener.listen(1))));
      assertThat(failure.get(20, TimeUnit.SECONDS))
          .isInstanceOfSatisfying(
              VerbsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EADDRINUSE));
      listener.close();
      while (!channel.toString().startsWith("event channel with 0 identifiers")) {
        Thread.onSpinWait(); // the request's, which the carrier's thread closes
      }
      channel.close();
    }
  }

  private static void ask(TwoDevices ib, int port) {
    InetAddress server = InetAddress.ofLiteral("10.0.0.2");
    CmId active = ib.client.id(PortSpace.TCP);
    try {
      active.resolveAddress(new InetSocketAddress(server, port), TwoDevices.SOON);
      ib.client.take(CmEventType.ADDR_RESOLVED);
      active.resolveRoute(TwoDevices.SOON);
      ib.client.take(CmEventType.ROUTE_RESOLVED);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
    active.connect();
  }

  private static void awaitBlockedCarrier(Context context) {
    String name = "hghca-cm-" + context.device().name();
    while (Thread.getAllStackTraces().keySet().stream()
        .noneMatch(t -> t.getName().equals(name) && t.getState() == Thread.State.BLOCKED)) {
      Thread.onSpinWait();
    }
  }
}
