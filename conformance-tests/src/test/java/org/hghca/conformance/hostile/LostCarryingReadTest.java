package org.hghca.conformance.hostile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import org.hghca.conformance.profile.TestTime;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.AsyncEventType;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.Completions;
import org.hghca.verbs.ConnectionOptions;
import org.hghca.verbs.Context;
import org.hghca.verbs.Errno;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.Mtu;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QpEndpoint;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.RdmaDevices;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.VerbsException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What happens to the card while a READ is out that carries a PSN over the wrap. */
class LostCarryingReadTest {
  private static final int LAST = 0xff_ffff;
  private static final int CQE = 32;
  private static final MemorySegment ZEROS = MemorySegment.ofArray(new byte[CQE]);
  private static final Duration LIMIT = TestTime.seconds(20);
  private static final ConnectionOptions OPTIONS =
      ConnectionOptions.DEFAULT.withTimeout(0).withPathMtu(Mtu.MTU_256);

  enum Fault {
    COMPLETION_LOST,
    CARD_RESET
  }

  /** The fault comes when the READ is completed. */
  private static final class AtCompletion implements Sabotage {
    private final String name;
    private final Fault fault;
    private volatile boolean armed;

    AtCompletion(String name, Fault fault) {
      this.name = name;
      this.fault = fault;
    }

    @Override
    public boolean dmaWrite(long iova, MemorySegment bytes) {
      if (!armed || bytes.byteSize() != CQE || bytes.mismatch(ZEROS) < 0) {
        return true; // the READ fetches zeros
      }
      armed = false;
      if (fault == Fault.CARD_RESET) {
        Thread.ofVirtual().start(() -> HostileProvider.device(name).hca().reset());
      }
      return false;
    }
  }

  @ParameterizedTest
  @EnumSource(Fault.class)
  void deviceEndsAndNothingHangs(Fault fault) throws InterruptedException {
    String name = Victim.newName();
    AtCompletion sabotage = new AtCompletion(name, fault);
    HostileProvider.plan(name, sabotage);
    try (Context context = RdmaDevices.open("hostile:" + name + "?profile=r1&limit=PT0.3S");
        ProtectionDomain pd = context.allocateProtectionDomain();
        CompletionQueue cq = context.createCompletionQueue(16);
        MemoryRegion memory = pd.allocate(8192, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
        QueuePair one = pd.createQueuePair(QueuePairConfig.rc(cq, cq).sendDepth(2).signalAll());
        QueuePair other = pd.createQueuePair(QueuePairConfig.rc(cq, cq).sendDepth(2).signalAll())) {
      connect(context, one, other);
      SendRequest write =
          new SendRequest(1).rdmaWrite(memory.address() + 4096, memory.rkey()).sge(memory, 0, 700);
      sabotage.armed = true;
      one.postSend(write.wrId(1));
      one.postSend(write.wrId(2));
      assertThat(context.asyncEvents().await(LIMIT).orElseThrow().type())
          .isEqualTo(AsyncEventType.DEVICE_FATAL);
      assertThatThrownBy(() -> pollAll(cq))
          .isInstanceOfSatisfying(
              VerbsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EIO));
      assertThat(sabotage.armed).isFalse();
    }
  }

  private static void pollAll(CompletionQueue cq) {
    Completions completions = new Completions(1);
    while (cq.poll(completions) != 0) {
      assertThat(completions.isSuccess(0)).as(completions.describe(0)).isFalse();
    }
  }

  private static void connect(Context context, QueuePair one, QueuePair other) {
    one.modify(OPTIONS.toInit(one.type()));
    other.modify(OPTIONS.toInit(other.type()));
    one.takeWrapMemory(other.offerWrapMemory().orElseThrow());
    QpEndpoint peer = new QpEndpoint(0, other.number(), 0, context.queryGid(1, 0));
    one.modify(OPTIONS.toRtr(one.type(), peer));
    peer = new QpEndpoint(0, one.number(), LAST, context.queryGid(1, 0));
    other.modify(OPTIONS.toRtr(other.type(), peer));
    one.modify(OPTIONS.toRts(one.type(), LAST));
    other.modify(OPTIONS.toRts(other.type(), 0));
  }
}
