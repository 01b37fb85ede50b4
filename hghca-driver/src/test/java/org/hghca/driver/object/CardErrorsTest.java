package org.hghca.driver.object;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.hghca.abi.HcrCommand;
import org.hghca.abi.QpcState;
import org.hghca.abi.QueuePairContext;
import org.hghca.driver.rtl.RtlFamily;
import org.hghca.driver.rtl.recovery.RtlContextForm;
import org.hghca.driver.rtl.recovery.StateFlowBySoftware;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.Completions;
import org.hghca.verbs.ConnectionOptions;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.QpEndpoint;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QpType;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.WcStatus;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Errors of a card of the first RTL, from its completions to those of verbs. */
@Tag("hazard-5.4")
class CardErrorsTest {
  private final DriverFixture it = new DriverFixture("&profile=r1");
  private final MemoryRegion memory =
      it.pd.allocate(8192, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
  private HghcaQueuePair qp;

  @AfterEach
  void close() {
    qp.close();
    memory.close();
    it.close();
  }

  /** Makes its queue pair its own peer, with a receive at the offset of the first send. */
  private void ready(QpType type) {
    ((RtlFamily) it.device.family()).recovery().maintenance().stop();
    QueuePairConfig config =
        switch (type) {
          case RC -> QueuePairConfig.rc(it.cq, it.cq);
          case UC -> QueuePairConfig.uc(it.cq, it.cq);
          case UD -> QueuePairConfig.ud(it.cq, it.cq);
        };
    qp = (HghcaQueuePair) it.pd.createQueuePair(config.sendDepth(4).receiveDepth(4));
    ConnectionOptions options = ConnectionOptions.DEFAULT;
    qp.modify(options.toInit(type));
    qp.modify(options.toRtr(type, new QpEndpoint(0, qp.number(), 0, it.context.queryGid(1, 0))));
    qp.modify(options.toRts(type, 0));
    qp.tryPostReceive(new ReceiveRequest().wrId(50).into(memory, 0, 1024));
  }

  /** As it goes there by itself, when the peer refuses a request. */
  private void cardGoesToError() {
    QueuePairContext context = qp.programmed().copy().set(QueuePairContext.STATE, QpcState.ERR);
    it.device
        .card()
        .commands()
        .modifyQp(
            HcrCommand.ANY2ERR,
            qp.number(),
            new RtlContextForm(it.device.card().limits().profile())
                .of(HcrCommand.ANY2ERR, context, context));
  }

  private List<String> poll() {
    Completions found = new Completions(8);
    List<String> done = new ArrayList<>();
    for (int i = 0, n = it.cq.poll(found); i < n; i++) {
      done.add(found.wrId(i) + " " + found.status(i));
    }
    return done;
  }

  @Test
  void firstErrorOfAConnectionHasNoKnownCauseAndTheRestIsFlushed() {
    ready(QpType.RC);
    cardGoesToError();
    for (int i = 0; i < 3; i++) {
      qp.tryPostSend(new SendRequest().send().wrId(i).sge(memory, 4096, 64));
    }
    assertThat(poll()).startsWith("0 " + WcStatus.GENERAL_ERR);
    StateFlowBySoftware.of(qp).look(0);
    assertThat(poll()).startsWith("1 " + WcStatus.WR_FLUSH_ERR, "2 " + WcStatus.WR_FLUSH_ERR);
    assertThat(qp.state()).isEqualTo(QpState.ERR);
  }

  /** Whether a send may look like a receive. */
  enum Kind {
    SEND,
    WRITE,
    WRITE_WITH_IMM
  }

  @ParameterizedTest
  @EnumSource
  void failedUnreliableSendIsNotTakenForAReceive(Kind kind) {
    ready(QpType.UC);
    cardGoesToError();
    SendRequest request = new SendRequest();
    switch (kind) {
      case SEND -> request.send();
      case WRITE -> request.rdmaWrite(memory.address(), memory.rkey());
      case WRITE_WITH_IMM -> request.rdmaWriteWithImmediate(memory.address(), memory.rkey(), 7);
    }
    qp.tryPostSend(request.wrId(3).sge(memory, 4096, 64));
    assertThat(poll()).startsWith("3 " + WcStatus.WR_FLUSH_ERR);
    assertThat(qp.state()).isEqualTo(QpState.ERR);
    StateFlowBySoftware.of(qp).look(0);
    assertThat(poll()).containsExactly("50 " + WcStatus.WR_FLUSH_ERR);
  }

  @Test
  void connectionThatItsPeerRefusesFailsWithTheRestFlushed() {
    ready(QpType.RC);
    qp.tryPostSend(
        new SendRequest().rdmaWrite(memory.address(), 0x7777).wrId(1).sge(memory, 4096, 64));
    qp.tryPostSend(new SendRequest().send().wrId(2).sge(memory, 4096, 64));
    assertThat(poll()).startsWith("1 " + WcStatus.GENERAL_ERR);
    StateFlowBySoftware.of(qp).look(0);
    assertThat(poll()).containsExactly("2 " + WcStatus.WR_FLUSH_ERR, "50 " + WcStatus.WR_FLUSH_ERR);
  }
}
