package org.hghca.tools.bringup;

import java.util.List;
import org.hghca.abi.MapIcm;
import org.hghca.abi.WqeOpcode;
import org.hghca.icm.IcmTable;

/**
 * The first messages, by hand, with every byte of their completions; then the card is shut down.
 */
final class RawDataSteps {
  private static final int LEFT = 6;
  private static final int RIGHT = 22;
  private static final int CQN = 16;

  private final Board board;
  private RawLoop loop;

  RawDataSteps(Board board) {
    this.board = board;
  }

  List<Step> steps() {
    return List.of(
        Step.of(
            "loop.send",
            "the first SEND, 64 bytes, to another queue pair of the card",
            "interface document, 3.1.2 (doorbell), 3.3 (CQE), 3.4 (WQE)",
            "the link and its loop; is the doorbell one 8-byte store? is the WQE little-endian?",
            this::send,
            "qp.query"),
        Step.of(
            "loop.write",
            "the first RDMA WRITE, 64 bytes",
            "interface document, tables 3-4-5, 3-4-13 and 3-3-2",
            "the MPT entry of the target needs REMOTE_WRITE",
            o -> access(o, WqeOpcode.RDMA_WRITE),
            "loop.send"),
        Step.of(
            "loop.read",
            "the first RDMA READ, 64 bytes",
            "interface document, tables 3-4-5, 3-4-13 and 3-3-2",
            "the MPT entry of the source needs REMOTE_READ",
            o -> access(o, WqeOpcode.RDMA_READ),
            "loop.write"),
        Step.of(
            "dma.clean",
            "no DMA was refused so far",
            "IOMMU of the platform",
            "the address in the fault: 0 plus an offset is an ICM page that was not mapped",
            this::clean,
            "hca.init"),
        Step.of(
            "icm.unmap",
            "UNMAP_ICM",
            "interface document, 3.2.2.2; RTL CEU.v",
            "in_param is the address itself, in_modifier counts pages",
            this::unmap,
            "icm.qpc"),
        Step.of(
            "hca.close",
            "CLOSE_HCA; the command unit answers afterwards",
            "interface document, 3.2.1.4",
            "reset the card",
            this::close,
            "hca.init"));
  }

  private void send(Observation o) {
    switch (board.options().loop()) {
      case NONE -> throw Observation.skip("no loop: data steps skipped");
      case PEER -> throw Observation.skip("the loop is a peer: data goes through the driver only");
      default -> {}
    }
    if (board.isRtl() && !board.function().canReset()) {
      throw Observation.skip(
          "the function has no reset: the positions that this leaves on the card would be in the"
              + " driver's way");
    }
    o.expect("a completion on both sides within %s".formatted(board.options().limit()));
    loop = new RawLoop(board, LEFT, RIGHT, CQN);
    if (loop.send(o, 1, board.options().limit())) {
      o.saw("%d bytes arrived; both completions as expected".formatted(RawLoop.LENGTH));
    } else if (board.options().loop() == Loop.PLUG) {
      throw new StepFailedException("nothing came back, although there is a plug");
    } else {
      throw Observation.skip("no loop: data steps skipped");
    }
  }

  private void access(Observation o, int opcode) {
    o.expect("a completion, and %d bytes at their place".formatted(RawLoop.LENGTH));
    loop.access(o, opcode, opcode);
    o.saw("%d bytes; the completion as expected".formatted(RawLoop.LENGTH));
  }

  private void clean(Observation o) {
    o.expect("0 refused accesses");
    long faults = board.newFaults();
    o.saw("%d refused accesses".formatted(faults));
    o.check(
        faults == 0,
        "%d accesses of the card to memory were refused, the last one: %s"
            .formatted(faults, faults == 0 ? "" : board.function().dmaFaults().getLast()));
  }

  private void unmap(Observation o) {
    switch (board.profile().name()) {
      case "r2" -> throw Observation.skip("the second RTL has no UNMAP_ICM");
      default -> o.expect("status 00 for the last page of contexts, which is not in use any more");
    }
    long last = board.tables().base(IcmTable.QPC) + 2L * MapIcm.PAGE_SIZE;
    board.commands().unmapIcm(MapIcm.CONTEXTS, last, 1);
    o.saw("the page at %xh is unmapped".formatted(last));
  }

  private void close(Observation o) {
    o.expect("status 00, and QUERY_DEV_LIM answers as before");
    board.commands().closeHca();
    boolean same = board.commands().queryDeviceLimits().equals(board.limits());
    o.saw("closed; QUERY_DEV_LIM answers %s".formatted(same ? "as before" : "something else"));
    o.check(same, "QUERY_DEV_LIM answers something else after CLOSE_HCA");
  }
}
