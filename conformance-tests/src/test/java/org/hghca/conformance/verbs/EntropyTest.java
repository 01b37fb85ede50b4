package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import org.hghca.conformance.profile.Feature;
import org.hghca.conformance.profile.Needs;
import org.hghca.verbs.AddressVector;
import org.hghca.verbs.Gid;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.RoceEntropy;
import org.junit.jupiter.api.Test;

/** Flow labels of connections without an explicit one. */
@Needs(Feature.ENTROPY)
class EntropyTest {
  private static int flowLabel(Side side) {
    return side.qp.query().addressVector().flowLabel();
  }

  @Test
  void bothEndsHaveTheLabelOfTheirNumbers() {
    try (RcPair pair = RcPair.open()) {
      assertThat(pair.left.context.entropy()).isEqualTo(RoceEntropy.V2);
      int label = RoceEntropy.V2.flowLabel(pair.left.qp.number(), pair.right.qp.number());
      assertThat(flowLabel(pair.left)).isEqualTo(label);
      assertThat(flowLabel(pair.right)).isEqualTo(label);
    }
  }

  @Test
  void firstVersionHasNoLabel() {
    try (RcPair pair = new RcSetup().unconnected().open()) {
      pair.left.context.entropy(RoceEntropy.V1);
      pair.connect(1, 2);
      assertThat(flowLabel(pair.left)).isZero();
      assertThat(flowLabel(pair.right))
          .isEqualTo(RoceEntropy.V2.flowLabel(pair.left.qp.number(), pair.right.qp.number()));
    }
  }

  @Test
  void explicitLabelIsKept() {
    try (RcPair pair = new RcSetup().unconnected().open()) {
      Gid peer = pair.right.context.queryGid(1, 0);
      RcSetup setup = pair.setup();
      QpAttributes toRtr =
          setup
              .connection()
              .toRtr(pair.left.qp.type(), RcPair.endpoint(pair.right.qp, setup.rightPsn()));
      pair.left.qp.modify(setup.connection().toInit(pair.left.qp.type()));
      pair.left.qp.modify(toRtr.addressVector(new AddressVector(peer, 0, 0xabcde, 64, 0, 0, 1)));
      assertThat(flowLabel(pair.left)).isEqualTo(0xabcde);
    }
  }
}
