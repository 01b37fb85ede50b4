package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.hghca.conformance.table.Tier;
import org.hghca.conformance.table.VerbsCase;
import org.hghca.model.SoftwareHca;
import org.hghca.verbs.WrOpcode;
import org.junit.jupiter.api.Test;

/** The host's DMA mappings for a device that works correctly. */
class BehaviorOfMappingsTest {

  @Test
  @VerbsCase(
      tier = Tier.CONTRACT,
      source = VerbsCase.CONTRACT,
      says = "closing the objects and the context removes every DMA mapping")
  void closingLeavesNoMapping() {
    List<SoftwareHca> hcas;
    try (RcPair pair = new RcSetup().on(Fabric.inline())) {
      hcas = pair.fabric.hcas();
      new Transfer(pair.left, pair.right, 1)
          .run(WrOpcode.SEND, Pieces.one(0, 5000), Pieces.one(0, 5000));
      assertThat(hcas).hasSize(2).allMatch(hca -> hca.dmaMappings() > 0);
    }
    assertThat(hcas).allMatch(hca -> hca.dmaMappings() == 0);
  }
}
