package org.hghca.driver.object;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.hghca.abi.Bar;
import org.hghca.abi.Doorbell;
import org.hghca.driver.bringup.BringUp;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.CompletionChannel;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.CompletionQueueConfig;
import org.hghca.verbs.Completions;
import org.hghca.verbs.ConnectionOptions;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QpEndpoint;
import org.hghca.verbs.QpType;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.RdmaDevice;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;
import org.hghca.vfio.ForwardingFunction;
import org.hghca.vfio.Locator;
import org.hghca.vfio.MmioHandler;
import org.hghca.vfio.MmioRegion;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.PciFunctions;
import org.junit.jupiter.api.Test;

/** A bus on which a store that arms a completion queue arrives when something is read. */
class PostedArmingTest {
  private static final Duration LIMIT = Duration.ofSeconds(20);

  /** Keeps such stores until the next read of any register. */
  private static final class SlowBus extends ForwardingFunction {
    private final Queue<Runnable> onTheWay = new ConcurrentLinkedQueue<>();

    SlowBus(PciFunction function) {
      super(function);
    }

    private void arrive() {
      for (Runnable store = onTheWay.poll(); store != null; store = onTheWay.poll()) {
        store.run();
      }
    }

    @Override
    public MmioRegion region(int bar) {
      MmioRegion registers = super.region(bar);
      return MmioRegion.trapped(
          registers.size(),
          new MmioHandler() {
            @Override
            public long read(long offset, int width) {
              arrive();
              return registers.read(offset, width);
            }

            @Override
            public void write(long offset, int width, long value) {
              Runnable store = () -> registers.write(offset, width, value);
              if (bar == Bar.BAR2 && (offset & 0xfff) == Doorbell.CQ_ARM) {
                onTheWay.add(store);
              } else {
                store.run();
              }
            }
          });
    }
  }

  @Test
  void solicitedMessageAfterRequestNotifyIsReported() throws Exception {
    Locator locator = Locator.parse("model:slow-bus?mode=inline");
    HghcaDevice device = BringUp.of(new SlowBus(PciFunctions.open(locator)));
    try (DeviceContext context =
            new DeviceContext(new RdmaDevice("hca", "slow-bus", 1), device, device::close);
        ProtectionDomain pd = context.allocateProtectionDomain();
        MemoryRegion memory = pd.allocate(64, AccessFlag.LOCAL_WRITE);
        CompletionChannel channel = context.createCompletionChannel();
        CompletionQueue sent = context.createCompletionQueue(16);
        CompletionQueue received =
            context.createCompletionQueue(CompletionQueueConfig.of(16).withChannel(channel));
        QueuePair qp =
            pd.createQueuePair(QueuePairConfig.rc(sent, received).sendDepth(4).receiveDepth(4))) {
      ConnectionOptions options = ConnectionOptions.DEFAULT;
      qp.modify(options.toInit(QpType.RC));
      qp.modify(
          options.toRtr(QpType.RC, new QpEndpoint(0, qp.number(), 7, context.queryGid(1, 0))));
      qp.modify(options.toRts(QpType.RC, 7));
      qp.postReceive(new ReceiveRequest().into(memory, 0, 32));
      received.requestNotify(true);
      qp.postSend(new SendRequest().send().sge(memory, 32, 8).solicited().signaled());
      Completions completions = new Completions(1);
      for (long start = System.nanoTime(); sent.poll(completions) == 0; ) {
        assertThat(System.nanoTime() - start).isLessThan(LIMIT.toNanos());
      }
      assertThat(channel.await(LIMIT)).containsSame(received);
    }
  }
}
