package org.hghca.driver.object;

import java.util.concurrent.atomic.AtomicInteger;
import org.hghca.driver.bringup.BringUp;
import org.hghca.verbs.ConnectionOptions;
import org.hghca.verbs.QpEndpoint;
import org.hghca.verbs.QpType;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.RdmaDevice;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunctions;

/** A software HCA with failures on request, with one queue pair that is its own peer. */
final class DriverFixture implements AutoCloseable {
  private static final AtomicInteger COUNT = new AtomicInteger();

  /** A name of its own, so that a failed test affects no other. */
  private final Locator locator;

  final FailingFunction function;
  final HghcaDevice device;
  final DeviceContext context;
  final HghcaProtectionDomain pd;
  final HghcaCompletionQueue cq;
  final HghcaQueuePair qp;

  DriverFixture() {
    this("");
  }

  /** With more parameters of the software HCA, each behind an ampersand. */
  DriverFixture(String parameters) {
    locator =
        Locator.parse(
            "model:fixture-%d?mode=inline".formatted(COUNT.incrementAndGet()) + parameters);
    function = new FailingFunction(PciFunctions.open(locator));
    device = BringUp.of(function);
    context =
        new DeviceContext(new RdmaDevice("hca", locator.toString(), 1), device, device::close);
    pd = (HghcaProtectionDomain) context.allocateProtectionDomain();
    cq = (HghcaCompletionQueue) context.createCompletionQueue(16);
    qp =
        (HghcaQueuePair)
            pd.createQueuePair(QueuePairConfig.rc(cq, cq).sendDepth(4).receiveDepth(4));
  }

  void connect() {
    connect(qp);
  }

  /** Makes a queue pair its own peer. */
  void connect(QueuePair qp) {
    ConnectionOptions options = ConnectionOptions.DEFAULT;
    qp.modify(options.toInit(QpType.RC));
    qp.modify(options.toRtr(QpType.RC, new QpEndpoint(0, qp.number(), 7, context.queryGid(1, 0))));
    qp.modify(options.toRts(QpType.RC, 7));
  }

  @Override
  public void close() {
    qp.close();
    cq.close();
    pd.close();
    context.close();
  }
}
