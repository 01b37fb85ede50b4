package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import org.hghca.conformance.process.OtherJvm;
import org.hghca.conformance.profile.TestProfile;
import org.hghca.conformance.table.Tier;
import org.hghca.conformance.table.VerbsCase;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.Context;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.RdmaDevices;
import org.junit.jupiter.api.Test;

/** Programs that end without closing anything. */
class BehaviorOfProcessesTest {

  /** Opens a device that runs by itself, creates one of each object, and closes none. */
  static final class Forgetful {
    private Forgetful() {}

    public static void main(String[] arguments) {
      Context context = RdmaDevices.open(TestProfile.model("model:forgotten"));
      ProtectionDomain pd = context.allocateProtectionDomain();
      MemoryRegion region = pd.allocate(1 << 20, Side.ALL);
      CompletionQueue queue = context.createCompletionQueue(1);
      QueuePair qp = pd.createQueuePair(QueuePairConfig.rc(queue, queue));
      System.out.print(region.length() + " bytes, " + qp.state());
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.CONTRACT,
      source = VerbsCase.CONTRACT,
      says = "a JVM whose program leaves everything open exits, and all DMA mappings end")
  void programThatClosesNothingExits() {
    OtherJvm.Ended ended = OtherJvm.run(Forgetful.class);
    assertThat(ended.assertSuccess().said()).endsWith("1048576 bytes, RESET");
  }
}
