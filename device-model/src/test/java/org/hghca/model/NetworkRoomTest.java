package org.hghca.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.hghca.abi.HardwareProfile;
import org.hghca.model.card.StepBudget;
import org.hghca.model.hca.Hca;
import org.hghca.vfio.LinkAddress;
import org.hghca.vfio.Locator;
import org.hghca.wire.PortAddresses;
import org.hghca.wire.link.Link;
import org.junit.jupiter.api.Test;

/** A link to a network that was full. */
final class NetworkRoomTest {
  private final AtomicBoolean room = new AtomicBoolean();
  private boolean flushes;

  /** Full, until it is flushed. */
  private Link link() {
    return (Link)
        Proxy.newProxyInstance(
            Link.class.getClassLoader(),
            new Class<?>[] {Link.class},
            (self, method, arguments) ->
                switch (method.getName()) {
                  case "addresses" -> PortAddresses.NONE;
                  case "isUp" -> true;
                  case "hasRoom" -> room.get();
                  case "pathMtu" -> 1024;
                  case "deadline" -> Long.MAX_VALUE;
                  case "flush" -> {
                    room.set(flushes);
                    yield null;
                  }
                  default ->
                      method.isDefault()
                          ? InvocationHandler.invokeDefault(self, method, arguments)
                          : null;
                });
  }

  @Test
  void roomThatAFlushMakesIsForAnotherStep() {
    SoftwareHca hca =
        new SoftwareHca(
            "full",
            (port, faults, interrupts) ->
                new Hca(HardwareProfile.S, port, faults, interrupts ? Hca.VECTORS : 0),
            LinkAddress.of(Locator.parse("model:full")),
            Simulation.unnamed(),
            Optional.of(new Plug.IntoNetwork(link(), Disturbance.NONE)),
            false,
            false,
            () -> {});
    try {
      while (hca.participant().step(0, StepBudget.WHOLE) || hca.participant().flush()) {
        // what begins with the card
      }
      assertThat(room).isFalse();
      flushes = true;
      assertThat(hca.participant().step(0, StepBudget.WHOLE)).isFalse();
      assertThat(hca.participant().flush()).as("packets wait for this room").isTrue();
      assertThat(hca.participant().step(0, StepBudget.WHOLE) || hca.participant().flush())
          .isFalse();
    } finally {
      hca.close();
    }
  }
}
