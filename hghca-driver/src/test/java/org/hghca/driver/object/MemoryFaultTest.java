package org.hghca.driver.object;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.hghca.driver.Failures.assertErrno;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.hghca.abi.Bar;
import org.hghca.driver.bringup.BringUp;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.AsyncEvent;
import org.hghca.verbs.AsyncEventType;
import org.hghca.verbs.BadRequestException;
import org.hghca.verbs.Completions;
import org.hghca.verbs.ConnectionOptions;
import org.hghca.verbs.Errno;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.QpEndpoint;
import org.hghca.verbs.QpType;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.RdmaDevice;
import org.hghca.verbs.SendRequest;
import org.hghca.vfio.ForwardingFunction;
import org.hghca.vfio.Locator;
import org.hghca.vfio.MmioRegion;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.PciFunctions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Memory that is mapped but no longer backed, as registers of a removed card: the kernel sends a
 * signal, and the JVM throws an InternalError. A truncated file replaces the registers.
 */
class MemoryFaultTest {
  @TempDir private Path folder;
  private final Arena arena = Arena.ofShared();
  private FileChannel doorbells;
  private FailingFunction card;
  private HghcaDevice device;
  private DeviceContext context;
  private HghcaProtectionDomain pd;
  private HghcaCompletionQueue cq;
  private QueuePair qp;
  private MemoryRegion memory;

  @BeforeEach
  void open() throws IOException {
    doorbells = file("bar2", Bar.BAR2_SIZE);
    MmioRegion mapped = MmioRegion.mapped(map(doorbells, Bar.BAR2_SIZE));
    card = new FailingFunction(PciFunctions.open(Locator.parse("model:faulting?mode=inline")));
    PciFunction function =
        new ForwardingFunction(card) {
          @Override
          public MmioRegion region(int bar) {
            return bar == Bar.BAR2 ? mapped : super.region(bar);
          }
        };
    device = BringUp.of(function);
    RdmaDevice name = new RdmaDevice("hca", function.locator().toString(), 1);
    context = new DeviceContext(name, device, device::close);
    pd = (HghcaProtectionDomain) context.allocateProtectionDomain();
    cq = (HghcaCompletionQueue) context.createCompletionQueue(16);
    memory = pd.allocate(4096, AccessFlag.LOCAL_WRITE);
    qp = pd.createQueuePair(QueuePairConfig.rc(cq, cq).sendDepth(4).maxInline(64));
    ConnectionOptions options = ConnectionOptions.DEFAULT;
    qp.modify(options.toInit(QpType.RC));
    QpEndpoint self = new QpEndpoint(0, qp.number(), 7, context.queryGid(1, 0));
    qp.modify(options.toRtr(QpType.RC, self));
    qp.modify(options.toRts(QpType.RC, 7));
  }

  @AfterEach
  void close() throws IOException {
    memory.close();
    qp.close();
    cq.close();
    pd.close();
    context.close();
    assertThat(card.isClosed()).isTrue();
    assertThat(card.mappings()).isZero();
    arena.close();
    doorbells.close();
  }

  private FileChannel file(String name, long bytes) throws IOException {
    FileChannel file =
        FileChannel.open(
            folder.resolve(name),
            StandardOpenOption.CREATE,
            StandardOpenOption.READ,
            StandardOpenOption.WRITE);
    file.truncate(bytes);
    return file;
  }

  private MemorySegment map(FileChannel file, long bytes) throws IOException {
    return file.map(FileChannel.MapMode.READ_WRITE, 0, bytes, arena);
  }

  @Test
  void doorbellOfARemovedCardEndsTheDevice() throws Exception {
    CompletableFuture<AsyncEvent> told = context.asyncEvents().next();
    SendRequest send = new SendRequest().send().sge(memory, 0, 64);
    assertThat(qp.tryPostSend(send)).isTrue();
    card.lose();
    doorbells.truncate(0);
    assertThatThrownBy(() -> qp.tryPostSend(send))
        .isInstanceOfSatisfying(
            BadRequestException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EIO))
        .hasMessageContaining(FailingFunction.PULLED);
    assertThat(told.get(20, TimeUnit.SECONDS).type()).isEqualTo(AsyncEventType.DEVICE_FATAL);
    assertErrno(Errno.EIO, () -> cq.poll(new Completions(1)));
  }

  /** A program may have truncated its own file: the card is not the cause. */
  @Test
  void missingMemoryOfTheProgramIsNotTakenForTheCard() throws Exception {
    try (FileChannel file = file("data", 4096);
        MemoryRegion data = pd.register(map(file, 4096))) {
      SendRequest send = new SendRequest().send().inline().sge(data, 0, 64);
      assertThat(qp.tryPostSend(send)).isTrue();
      file.truncate(0);
      assertThatThrownBy(() -> qp.tryPostSend(send)).isInstanceOf(InternalError.class);
    }
    assertThat(device.card().health().isDead()).isFalse();
    assertThat(qp.tryPostSend(new SendRequest().send().sge(memory, 0, 64))).isTrue();
  }
}
