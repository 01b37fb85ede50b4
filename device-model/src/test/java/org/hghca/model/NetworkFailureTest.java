package org.hghca.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.model.Waits.await;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.hghca.abi.Bar;
import org.hghca.abi.Doorbell;
import org.hghca.abi.HardwareProfile;
import org.hghca.model.hca.Hca;
import org.hghca.vfio.DeviceBus;
import org.hghca.vfio.LinkAddress;
import org.hghca.vfio.Locator;
import org.hghca.wire.PortAddresses;
import org.hghca.wire.link.Link;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A link to a network that fails to send, of an HCA in the simulation of the process. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class NetworkFailureTest {
  private final AtomicInteger failedInLoop = new AtomicInteger();
  private final AtomicInteger failedHere = new AtomicInteger();

  private Link link(Thread here) {
    return (Link)
        Proxy.newProxyInstance(
            Link.class.getClassLoader(),
            new Class<?>[] {Link.class},
            (self, method, arguments) ->
                switch (method.getName()) {
                  case "addresses" -> PortAddresses.NONE;
                  case "isUp", "hasRoom" -> true;
                  case "pathMtu" -> 1024;
                  case "deadline" -> Long.MAX_VALUE;
                  case "flush" -> {
                    Thread thread = Thread.currentThread();
                    if (CallerRunsTest.isLoop(thread)) {
                      failedInLoop.incrementAndGet();
                    } else if (thread.equals(here)) {
                      failedHere.incrementAndGet();
                    }
                    throw new IllegalStateException("the test's");
                  }
                  default ->
                      method.isDefault()
                          ? InvocationHandler.invokeDefault(self, method, arguments)
                          : null;
                });
  }

  private SoftwareHca hca() {
    return new SoftwareHca(
        "failing",
        (port, faults, interrupts) ->
            new Hca(HardwareProfile.S, port, faults, interrupts ? Hca.VECTORS : 0),
        LinkAddress.of(Locator.parse("model:failing")),
        Simulation.shared(),
        Optional.of(new Plug.IntoNetwork(link(Thread.currentThread()), Disturbance.NONE)),
        false,
        false,
        () -> {});
  }

  @Test
  void simulationsThreadContinuesAndTheHcaReports() {
    SoftwareHca hca = hca();
    try {
      await(() -> failedInLoop.get() >= 2);
      assertThat(hca.faults())
          .contains("internal failure: " + new IllegalStateException("the test's"));
    } finally {
      hca.close();
    }
  }

  /** A host in this process, for whose memory no step waits. */
  private static DeviceBus bus() {
    return (DeviceBus)
        Proxy.newProxyInstance(
            DeviceBus.class.getClassLoader(),
            new Class<?>[] {DeviceBus.class},
            (self, method, arguments) ->
                switch (method.getName()) {
                  case "mayWait" -> false;
                  case "beginRun" -> DeviceBus.NO_WINDOWS;
                  default -> null;
                });
  }

  @Test
  void doorbellOfAnApplicationReturns() {
    SoftwareHca hca = hca();
    hca.attach(bus());
    try {
      // Possibly not the first one: the simulation's thread may hold the lock.
      while (failedHere.get() == 0) {
        hca.write(Bar.BAR2, Doorbell.SEND_QUEUE, Long.BYTES, 0);
      }
      assertThat(hca.faults())
          .contains("internal failure: " + new IllegalStateException("the test's"));
    } finally {
      hca.close();
    }
  }
}
