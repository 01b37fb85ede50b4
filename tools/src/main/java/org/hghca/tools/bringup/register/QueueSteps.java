package org.hghca.tools.bringup.register;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.stream.IntStream;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.HcrCommand;
import org.hghca.abi.MapIcm;
import org.hghca.abi.QpcState;
import org.hghca.abi.QueuePairContext;
import org.hghca.icm.IcmTable;
import org.hghca.tools.bringup.board.Board;
import org.hghca.tools.bringup.step.Capability;
import org.hghca.tools.bringup.step.Observation;
import org.hghca.tools.bringup.step.Step;

/** Queue pair contexts: every state by its command, and the card's answer to queries. */
public final class QueueSteps {
  /** In the first, second and third mapped page of contexts. */
  private static final int[] QPNS = {5, 21, 37};

  private static final int CQN = 9;

  /**
   * Numbers of which each differs from another one in one bit only, for each bit that numbers of
   * the mapped pages have: the upper two bits are the page.
   */
  private static final int[] DISTINCT = {27, 27 ^ 1, 27 ^ 2, 27 ^ 4, 27 ^ 8, 27 ^ 16, 27 ^ 16 ^ 32};

  private static final int DISTINCT_CQN = 12;

  /** Bytes that QUERY_QP of the first RTL does not return: A0h to BBh. */
  private static final int STALE_FIRST = 0xa0;

  private static final int STALE_END = 0xbc;

  private final Board board;

  public QueueSteps(Board board) {
    this.board = board;
  }

  public List<Step> steps() {
    return List.of(
        Step.of(
                "qp.modify",
                "MODIFY_QP: RST, INIT, RTR, RTS, ERR, RST, the whole context each time",
                "interface document, 3.2.6.1, tables 3-2-39 to 3-2-42",
                "192 bytes of inbox with op_modifier 0; a form without inbox hangs the RTL",
                this::modify,
                Capability.QPC_PAGES,
                Capability.COMPLETION_QUEUES)
            .giving(Capability.QUEUE_PAIRS),
        Step.of(
            "qp.query",
            "QUERY_QP straight after MODIFY_QP",
            "interface document, 3.2.6.2; RTL CM/ctxmdata.v",
            "is the page of the context mapped, and to the right bus address?",
            this::query,
            Capability.QUEUE_PAIRS,
            Capability.MAILBOXES),
        Step.of(
            "qp.distinct",
            "contexts whose numbers differ in one bit, written one after another, then queried",
            "interface document, 3.2.2.1 and 3.2.6.2, tables 3-2-12 to 3-2-14",
            "the address lines of context memory; the bus address of each page in MAP_ICM",
            this::distinct,
            Capability.QUEUE_PAIRS,
            Capability.MAILBOXES));
  }

  private RawQueuePair make(int index) {
    return new RawQueuePair(board, QPNS[index], CQN + index);
  }

  private void modify(Observation o) {
    o.expect("status 00 for each of the five");
    RawQueuePair qp = make(0);
    qp.connect(qp.qpn(), 0);
    board.commands().modifyQp(HcrCommand.ANY2ERR, qp.qpn(), qp.context(QpcState.ERR, qp.qpn()));
    board.commands().modifyQp(HcrCommand.ERR2RST, qp.qpn(), qp.context(QpcState.RST, qp.qpn()));
    board.commands().hw2swCq(qp.cqn());
    o.saw("QP %02xh went through all states and is in RST again".formatted(qp.qpn()));
  }

  private void query(Observation o) {
    boolean exact = board.profile() != HardwareProfile.R2;
    o.expect(
        exact
            ? "the bytes that were written"
            : "an answer; the second RTL's cannot be compared with what was written");
    for (int i = 1; i < QPNS.length; i++) {
      RawQueuePair qp = make(i);
      int[] states = {QpcState.INIT, QpcState.RTR, QpcState.RTS};
      HcrCommand[] commands = {HcrCommand.RST2INIT, HcrCommand.INIT2RTR, HcrCommand.RTR2RTS};
      for (int step = 0; step < states.length; step++) {
        QueuePairContext context =
            qp.context(states[step], QPNS[0])
                .set(QueuePairContext.NEXT_SEND_PSN, 0x000100)
                .set(QueuePairContext.LAST_ACKED_PSN, 0x000100)
                .set(QueuePairContext.NEXT_RECEIVE_PSN, 0x000200);
        board.commands().modifyQp(commands[step], qp.qpn(), context);
        byte[] seen = bytes(board.commands().queryQp(qp.qpn()));
        if (exact) {
          o.compare(
              "QPC %02xh in state %d".formatted(qp.qpn(), states[step]),
              bytes(context),
              seen,
              stale());
        }
      }
      o.saw(
          "QP %02xh as it was written; its context in ICM is %s"
              .formatted(
                  qp.qpn(),
                  inMemory(qp.qpn()) ? "at its place in the mapped page" : "not in the page yet"));
      board.commands().modifyQp(HcrCommand.ANY2ERR, qp.qpn(), qp.context(QpcState.ERR, QPNS[0]));
      board.commands().modifyQp(HcrCommand.ERR2RST, qp.qpn(), qp.context(QpcState.RST, QPNS[0]));
      board.commands().hw2swCq(qp.cqn());
    }
  }

  /** Contexts at places that differ in one address line each, and with bytes of their own. */
  private void distinct(Observation o) {
    if (board.profile() == HardwareProfile.R2) {
      throw Observation.skip("QUERY_QP of the second RTL does not answer what was written");
    }
    o.expect(
        "%d contexts, each with the bytes that were written for it".formatted(DISTINCT.length));
    RawQueuePair queues = new RawQueuePair(board, DISTINCT[0], DISTINCT_CQN);
    for (int qpn : DISTINCT) {
      board.commands().modifyQp(HcrCommand.RST2INIT, qpn, distinct(queues, QpcState.INIT, qpn));
    }
    for (int qpn : DISTINCT) {
      QueuePairContext seen = board.commands().queryQp(qpn);
      int named = seen.get(QueuePairContext.LOCAL_QPN);
      o.check(
          named == qpn || IntStream.of(DISTINCT).noneMatch(other -> other == named),
          "the context of QP %02xh is that of QP %02xh, which is in %s page of ICM"
              .formatted(qpn, named, page(qpn) == page(named) ? "the same" : "another"));
      o.compare(
          "QPC %02xh".formatted(qpn),
          bytes(distinct(queues, QpcState.INIT, qpn)),
          bytes(seen),
          stale());
    }
    for (int qpn : DISTINCT) {
      board.commands().modifyQp(HcrCommand.ANY2ERR, qpn, distinct(queues, QpcState.ERR, qpn));
      board.commands().modifyQp(HcrCommand.ERR2RST, qpn, distinct(queues, QpcState.RST, qpn));
    }
    board.commands().hw2swCq(queues.cqn());
    o.saw("QPs %s, each as it was written".formatted(Arrays.toString(DISTINCT)));
  }

  private static QueuePairContext distinct(RawQueuePair queues, int state, int qpn) {
    return queues
        .context(state, qpn)
        .set(QueuePairContext.LOCAL_QPN, qpn)
        .set(QueuePairContext.NEXT_SEND_PSN, 0x100 + qpn)
        .set(QueuePairContext.LAST_ACKED_PSN, 0x100 + qpn)
        .set(QueuePairContext.NEXT_RECEIVE_PSN, 0x200 + qpn);
  }

  private int page(int qpn) {
    return qpn * QueuePairContext.ENTRY_SIZE / MapIcm.PAGE_SIZE;
  }

  /** Whether the memory of the context has been written. */
  private boolean inMemory(int qpn) {
    int size = QueuePairContext.ENTRY_SIZE;
    byte[] entry =
        board
            .tables()
            .pages(IcmTable.QPC)
            .segment()
            .asSlice((long) qpn * size, size)
            .toArray(ValueLayout.JAVA_BYTE);
    return !Arrays.equals(entry, new byte[size]);
  }

  private BitSet stale() {
    BitSet ignored = new BitSet();
    if (board.isRtl()) {
      ignored.set(STALE_FIRST, STALE_END);
    }
    return ignored;
  }

  private static byte[] bytes(QueuePairContext context) {
    byte[] mailbox = new byte[QueuePairContext.LAYOUT.size()];
    context.encode(MemorySegment.ofArray(mailbox));
    return mailbox;
  }
}
