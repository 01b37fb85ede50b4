package org.hghca.cm.ib;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.hghca.cm.mad.Mad;
import org.hghca.verbs.AddressVector;
import org.hghca.verbs.Context;
import org.hghca.verbs.Gid;
import org.hghca.verbs.RdmaDevices;
import org.hghca.verbs.VerbsException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The queue pair of the general services on a device of which calls fail. */
class GsiQueueTest {
  private static final Gid OWN = Gid.ofIpv4(0x0a00_0001);

  private final Context real = RdmaDevices.open("model:gsi?hub=gsi&ip=10.0.0.1");
  private final FaultyDevice device = new FaultyDevice(real);

  /** With EBUSY, if anything is open. */
  @AfterEach
  void closeContext() {
    real.close();
  }

  @ParameterizedTest
  @CsvSource({
    "allocateProtectionDomain, 0",
    "createCompletionChannel, 0",
    "createCompletionQueue, 0",
    "allocate, 0",
    "createQueuePair, 0",
    "activate, 0",
    "postReceive, 0",
    "postReceive, 1000",
    "queryPort, 0",
    "queryDevice, 0"
  })
  void openingThatFailsLeavesNothingOpen(String method, int after) {
    device.fail(method, after);
    assertThatThrownBy(() -> IbCarrier.of(device.context()))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("a fault of " + method)
        .satisfies(e -> assertThat(e.getSuppressed()).isEmpty());
    device.failNothing();
    IbCarrier.of(device.context()).close();
  }

  @Test
  void postThatFailsKeepsItsSlot() {
    AddressVector self = new AddressVector(OWN, ownIndex(), 0, 64, 0, 0, Arrival.PORT);
    real.addNeighbor(OWN, real.queryGid(1, 0).mac().orElseThrow());
    try (GsiQueue queue = GsiQueue.open(device.context())) {
      device.fail("postSend", 0);
      for (int i = 0; i < 1000; i++) {
        assertThatThrownBy(() -> queue.send(new byte[Mad.LENGTH], self))
            .hasMessageContaining("a fault of postSend");
      }
      device.failNothing();
      assertThat(queue.send(new byte[Mad.LENGTH], self)).isTrue();
    }
  }

  private int ownIndex() {
    return real.queryGidTable().stream()
        .filter(entry -> entry.gid().equals(OWN))
        .findFirst()
        .orElseThrow()
        .index();
  }
}
