package org.hghca.model.hca;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.hghca.abi.BthOpcode;
import org.hghca.abi.CompletionQueueContext;
import org.hghca.abi.Cqe;
import org.hghca.abi.Doorbell;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.InitHca;
import org.hghca.abi.Mpt;
import org.hghca.abi.MptFlags;
import org.hghca.abi.WriteMtt;
import org.hghca.model.card.Faults;
import org.hghca.model.card.HostMemory;
import org.hghca.model.transport.ConnectionContext;
import org.hghca.model.transport.ReceiveWork;
import org.hghca.vfio.DeviceBus;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Which entries of a step give a completion event. There is no event queue: each event is a fault.
 */
class CompletionEventsTest {
  private static final int PAGE = 4096;
  private static final int PD = 1;
  private static final int KEY = 2;
  private static final int CQN = 3;
  private static final int LOG_SIZE = 4;

  /** HCA-virtual addresses of the tables. */
  private static final long CONTEXTS = 0x2000_0000L;

  private static final long REGIONS = 0x4000_0000L;
  private static final long PAGES = 0x5000_0000L;

  private final MemorySegment memory = Arena.ofAuto().allocate(8 * PAGE, 8);
  private final MemorySegment mailbox = Arena.ofAuto().allocate(PAGE, 8);
  private final Faults faults = new Faults();
  private final HostMemory host = new HostMemory(faults, () -> {});
  private final Icm icm = new Icm(host);
  private final TranslationTables tables = new TranslationTables(host, icm);
  private final CompletionQueues queues =
      new CompletionQueues(
          host,
          icm,
          tables,
          faults,
          new EventRouting(new EventQueues(host, icm, tables, faults, 0, () -> {})),
          qpn -> {},
          HardwareProfile.S,
          LOG_SIZE);

  private final ConnectionContext qp = new ConnectionContext();
  private final ReceiveWork request = new ReceiveWork();

  /** Memory at the I/O address 0, by calls alone. */
  private final class Bus implements DeviceBus {
    @Override
    public boolean read(long iova, MemorySegment destination, long offset, long length) {
      MemorySegment.copy(memory, iova, destination, offset, length);
      return true;
    }

    @Override
    public boolean write(long iova, MemorySegment source, long offset, long length) {
      MemorySegment.copy(source, offset, memory, iova, length);
      return true;
    }

    @Override
    public void raise(int vector) {}
  }

  @BeforeEach
  void takeTheQueue() {
    host.attach(new Bus());
    host.enable(true);
    icm.initialize(new InitHca(0, 0, CONTEXTS, 4, 0, 0, REGIONS, 4, PAGES), HardwareProfile.S);
    icm.map(false, CONTEXTS, 0, 1);
    icm.map(true, REGIONS, PAGE, 1);
    icm.map(true, PAGES, 2L * PAGE, 1);
    WriteMtt.encode(mailbox, 0, 3L * PAGE);
    assertThat(tables.writePages(mailbox, 1)).isTrue();
    new Mpt(MptFlags.LOCAL_WRITE, 0, KEY, PD, 0, PAGE, 0, 0, 0, 0, 0).encode(mailbox);
    assertThat(tables.take(KEY, mailbox)).isTrue();
    Cqe.fill(memory, 3L * PAGE, 1 << LOG_SIZE);
    qp.receiveCqn = CQN;
    take(CompletionQueueContext.ARMED);
  }

  private void take(int flags) {
    new CompletionQueueContext(flags, 0, LOG_SIZE, 0, 0, PD, KEY, CQN).encode(mailbox);
    assertThat(queues.take(CQN, mailbox)).isTrue();
  }

  private void complete() {
    queues.receiveDone(qp, request, BthOpcode.SEND_ONLY, 0, 8, false);
  }

  private void assertEvents(int count) {
    assertThat(faults.list())
        .hasSize(count)
        .allMatch(fault -> fault.startsWith("a completion event of CQ 3 is lost"));
  }

  @Test
  void entriesOfAStepGiveOneEventAtItsEnd() {
    complete();
    complete();
    assertEvents(0);
    queues.endStep();
    assertEvents(1);
    assertThat(queues.written()).isEqualTo(2);

    complete();
    queues.endStep();
    assertEvents(1);
  }

  @Test
  void queueThatIsArmedAfterItsEntryHasTheEventOfThisStep() {
    queues.release(CQN);
    take(0);
    complete();
    queues.arm(Doorbell.CQ_ARM_NEXT | CQN);
    queues.endStep();
    assertEvents(1);
  }

  @Test
  void entryOfAReleasedQueueIsNoEventOfTheNextOne() {
    complete();
    assertThat(queues.release(CQN)).isTrue();
    take(CompletionQueueContext.ARMED);
    queues.endStep();
    assertEvents(0);

    Cqe.fill(memory, 3L * PAGE, 1);
    complete();
    queues.endStep();
    assertEvents(1);
  }

  @Test
  void nextQueueInTheSameStepHasItsOwnEvent() {
    complete();
    queues.release(CQN);
    take(CompletionQueueContext.ARMED);
    Cqe.fill(memory, 3L * PAGE, 1);
    complete();
    queues.endStep();
    assertEvents(1);
  }

  @Test
  void resetQueuesGiveNoEvent() {
    complete();
    queues.reset();
    queues.endStep();
    assertEvents(0);
  }
}
