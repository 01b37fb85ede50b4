package org.hghca.conformance.hostile;

import static org.assertj.core.api.Assertions.assertThat;

import org.hghca.conformance.table.Tier;
import org.hghca.conformance.table.VerbsCase;
import org.junit.jupiter.api.Test;

/** What the host has mapped for a device that does nothing wrong. */
class BehaviorOfMappingsTest {

  @Test
  @VerbsCase(
      tier = Tier.CONTRACT,
      source = VerbsCase.CONTRACT,
      says = "closing the objects and the context takes back every DMA mapping")
  void closingLeavesNoMapping() {
    String name = "mappings";
    Victim victim = Victim.open(name);
    victim.exchange();
    assertThat(victim.device().mappings()).isPositive();
    victim.closeAll();
    assertThat(victim.device().mappingsAtClose()).isZero();
  }
}
