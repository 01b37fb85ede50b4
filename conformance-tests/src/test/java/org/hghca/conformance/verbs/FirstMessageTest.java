package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import org.hghca.verbs.WcOpcode;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The minimum that must work, on every kind of device. */
@Tag("rc")
class FirstMessageTest {
  private final SplittableRandom random = new SplittableRandom(1);

  @Test
  void eightBytesAreWrittenThroughEveryLayer() {
    try (RcPair pair = RcPair.open()) {
      writeEightBytes(pair);
    }
  }

  @Test
  void eightBytesAreWrittenByTheSimulationsOwnThread() {
    try (RcPair pair = new RcSetup().on(Fabric.threaded())) {
      writeEightBytes(pair);
    }
  }

  @Tag("loop")
  @Test
  void eightBytesAreWrittenBetweenTwoContextsOfOneDevice() {
    try (RcPair pair = new RcSetup().on(Fabric.oneDevice())) {
      writeEightBytes(pair);
    }
  }

  private void writeEightBytes(RcPair pair) {
    Side left = pair.left;
    Side right = pair.right;
    left.randomize(0, 8, random);
    left.qp.postSend(
        left.send
            .wrId(7)
            .rdmaWrite(right.address(24), right.buffer.rkey())
            .sge(left.buffer, 0, 8)
            .signaled());
    Wc completion = left.sent();
    Side.assertSuccess(completion);
    assertThat(completion.wrId()).isEqualTo(7);
    assertThat(completion.opcode()).isEqualTo(WcOpcode.RDMA_WRITE);
    assertThat(completion.qpNumber()).isEqualTo(left.qp.number());
    right.expect(24, left, 0, 8);
    right.verifyWritten("RDMA WRITE of 8 bytes");
    right.assertQuiet();
  }
}
