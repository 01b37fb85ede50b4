package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QpType;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.junit.jupiter.api.Test;

/** The text of objects in logs and debuggers: name, number and state. */
class ObjectTextTest {

  @Test
  void queuePairShowsStateAndRingPositions() {
    try (RcPair pair = new RcSetup().depth(4).open()) {
      Side side = pair.right;
      side.postReceive(1, 0, 64);
      side.postReceive(2, 64, 64);

      assertThat(side.qp.toString())
          .startsWith("QP 0x%06x: RC in RTS, sends 0 of 4 outstanding".formatted(side.qp.number()))
          .matches(".*receives 2 of 4 outstanding \\(head \\d+, tail \\d+\\)");
      side.qp.modify(QpAttributes.to(QpState.ERR));
      assertThat(side.qp.toString()).contains("RC in ERR");
    }
  }

  @Test
  void otherObjectsShowTheirContents() {
    try (Fabric fabric = Fabric.open();
        var pd = fabric.left().allocateProtectionDomain();
        MemoryRegion region = pd.allocate(100, AccessFlag.LOCAL_WRITE);
        CompletionQueue cq = fabric.left().createCompletionQueue(8)) {
      assertThat(pd.toString()).matches("PD 0x[0-9a-f]+: open");
      assertThat(region)
          .hasToString(
              "MR 0x%08x: 100 bytes at 0x%x, rkey 0x%08x, [LOCAL_WRITE]"
                  .formatted(region.lkey(), region.address(), region.rkey()));
      assertThat(cq.toString())
          .matches("CQ 0x[0-9a-f]+: 8 entries, ring of \\d+ at \\d+, 0 reserved");
      assertThat(fabric.left().toString()).endsWith(": open");
      try (QueuePair qp = pd.createQueuePair(QueuePairConfig.of(QpType.UC, cq, cq))) {
        assertThat(qp.toString()).contains("UC in RESET, sends 0 of 1 outstanding");
      }
    }
  }

  @Test
  void closedObjectShowsThatItIsClosed() {
    try (Fabric fabric = Fabric.open()) {
      CompletionQueue cq = fabric.left().createCompletionQueue(8);
      cq.close();
      assertThat(cq.toString()).matches("CQ 0x[0-9a-f]+: closed");
    }
  }
}
