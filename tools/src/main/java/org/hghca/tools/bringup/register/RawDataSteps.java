package org.hghca.tools.bringup.register;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.hghca.abi.Cqe;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.HcrCommand;
import org.hghca.abi.MapIcm;
import org.hghca.abi.QpcState;
import org.hghca.abi.WqeOpcode;
import org.hghca.icm.IcmTable;
import org.hghca.tools.bringup.board.Board;
import org.hghca.tools.bringup.board.Loop;
import org.hghca.tools.bringup.board.Target;
import org.hghca.tools.bringup.step.Capability;
import org.hghca.tools.bringup.step.Observation;
import org.hghca.tools.bringup.step.Step;
import org.hghca.tools.bringup.step.StepFailedException;

/**
 * The first messages, by hand, with every byte of their completions; then the card is shut down.
 */
public final class RawDataSteps {
  private static final int LEFT = 6;
  private static final int RIGHT = 22;
  private static final int CQN = 16;

  private final Board board;

  /** Of the queue pair whose request fails. */
  private static final int ALONE = 8;

  private static final int ALONE_CQN = 20;

  private RawLoop loop;

  public RawDataSteps(Board board) {
    this.board = board;
  }

  public List<Step> steps() {
    return List.of(
        Step.of(
                "path.doorbell",
                "a request completes that needs no network",
                "interface document, 3.1.2 (doorbell), 3.3 (CQE), 3.4 (WQE); RTL: doorbell in ERR",
                "BAR2: is the doorbell one 8-byte store at its place? the fetch of the WQE; the"
                    + " write of the CQE",
                this::doorbell,
                Capability.QUEUE_PAIRS,
                Capability.BAR2)
            .giving(Capability.DOORBELLS),
        Step.of(
                "loop.send",
                "the first SEND, 64 bytes, to another queue pair of the card",
                "interface document, 3.1.2 (doorbell), 3.3 (CQE), 3.4 (WQE)",
                "the link and its loop; is the doorbell one 8-byte store? is the WQE"
                    + " little-endian?",
                this::send,
                Capability.DOORBELLS)
            .giving(Capability.LOOP),
        Step.of(
            "loop.write",
            "the first RDMA WRITE, 64 bytes",
            "interface document, tables 3-4-5, 3-4-13 and 3-3-2",
            "the MPT entry of the target needs REMOTE_WRITE",
            o -> access(o, WqeOpcode.RDMA_WRITE),
            Capability.LOOP),
        Step.of(
                "loop.read",
                "the first RDMA READ, 64 bytes",
                "interface document, tables 3-4-5, 3-4-13 and 3-3-2",
                "the MPT entry of the source needs REMOTE_READ",
                o -> access(o, WqeOpcode.RDMA_READ),
                Capability.LOOP)
            .giving(Capability.WHOLE_LOOP),
        Step.of(
            "loop.pages",
            "an RDMA WRITE to each page of a region whose pages are not adjacent, and change",
            "interface document, 3.2.3.1 to 3.2.3.3, tables 3-2-17 to 3-2-21 (MPT, MTT)",
            "the index into the MTT: is an entry read for each page, or the first one counted on?"
                + " is an entry that changes read again?",
            this::pages,
            Capability.LOOP),
        Step.of(
            "dma.clean",
            "no DMA was refused so far",
            "IOMMU of the platform",
            "the address in the fault: 0 plus an offset is an ICM page that was not mapped",
            this::clean,
            Capability.TABLES),
        Step.of(
            "icm.unmap",
            "UNMAP_ICM",
            "interface document, 3.2.2.2; RTL CEU.v",
            "in_param is the address itself, in_modifier counts pages",
            this::unmap,
            Capability.QPC_PAGES),
        Step.of(
            "hca.close",
            "CLOSE_HCA; the command unit answers afterwards",
            "interface document, 3.2.1.4",
            "reset the card",
            this::close,
            Capability.TABLES,
            Capability.MAILBOXES));
  }

  private void send(Observation o) {
    switch (board.options().loop()) {
      case NONE -> throw Observation.skip("--loop=none: data steps skipped");
      case PEER -> throw Observation.skip("the loop is a peer: data goes through the driver only");
      default -> {}
    }
    checkPositions();
    o.expect("a completion on both sides within %s".formatted(board.options().limit()));
    loop = new RawLoop(board, LEFT, RIGHT, CQN);
    boolean whole = false;
    try {
      whole = loop.send(o, 1, board.options().limit());
    } finally {
      if (loop.hasReturned()) {
        board.looped();
        o.gives(Capability.LOOP, whole ? "" : "messages come back, but not as they should");
      }
    }
    if (whole) {
      o.saw("%d bytes arrived; both completions as expected".formatted(RawLoop.LENGTH));
    } else if (board.options().loop() == Loop.PLUG) {
      throw new StepFailedException("nothing came back, although there is a plug");
    } else {
      throw Observation.notJudged(Target.NO_LOOP);
    }
  }

  /** The driver does the same steps. */
  private void checkPositions() {
    if (board.isRtl() && !board.function().canReset()) {
      throw Observation.skip(
          "the function has no reset: the positions that this leaves on the card would be in the"
              + " driver's way");
    }
  }

  /**
   * The card rings, fetches the request and writes a completion with an error, and sends nothing:
   * on S the key of the request is unknown, on the first RTL the queue pair is in ERR.
   */
  private void doorbell(Observation o) {
    if (board.profile() == HardwareProfile.R2) {
      o.gives(Capability.DOORBELLS);
      throw Observation.skip("the second RTL has no completion without a packet");
    }
    checkPositions();
    o.expect("a completion with an error within %s".formatted(board.options().limit()));
    RawQueuePair alone = new RawQueuePair(board, ALONE, ALONE_CQN);
    alone.connect(ALONE, 0);
    if (board.isRtl()) {
      board.commands().modifyQp(HcrCommand.ANY2ERR, ALONE, alone.context(QpcState.ERR, ALONE));
    }
    board.commands().queryDeviceLimits(); // no doorbell before the last context has arrived
    alone.send(board.isRtl() ? alone.sendKey() : Target.NO_KEY, 0, RawLoop.LENGTH);
    byte[] entry = alone.completion(board.options().limit());
    o.check(
        entry.length != 0,
        "no completion: the doorbell did not arrive, or the card fetched no request, or wrote no"
            + " completion");
    o.gives(Capability.DOORBELLS, "completions come, but not as they should");
    MemorySegment cqe = MemorySegment.ofArray(entry);
    o.saw("a completion of QPN 0x%06x".formatted(Cqe.qpn(cqe, 0)));
    o.check(
        Cqe.qpn(cqe, 0) == ALONE,
        "the completion names QPN 0x%06x, not 0x%06x".formatted(Cqe.qpn(cqe, 0), ALONE));
    o.check(
        (entry[Cqe.LAST_DWORD_OFFSET] & 0xff) == WqeOpcode.INVALID,
        "the completion reports no error: opcode %02xh".formatted(entry[Cqe.LAST_DWORD_OFFSET]));
    o.gives(Capability.DOORBELLS);
  }

  private void access(Observation o, int opcode) {
    o.expect("a completion, and %d bytes at their place".formatted(RawLoop.LENGTH));
    loop.access(o, opcode, opcode);
    o.saw("%d bytes; the completion as expected".formatted(RawLoop.LENGTH));
  }

  private void pages(Observation o) {
    o.expect(
        "each message in its page, and no other byte of the pages changed; the same when the MTT"
            + " entries were overwritten, and when the MPT entry has other ones");
    new ScatteredPages(loop, board.tables()).run(o);
  }

  private void clean(Observation o) {
    o.expect("0 refused accesses");
    long faults = board.newFaults();
    o.saw("%d refused accesses".formatted(faults));
    if (faults == 0 && !board.function().reportsDmaFaults()) {
      throw Observation.notJudged(Target.UNREPORTED);
    }
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
    boolean same = board.commands().queryDeviceLimits().equals(board.answeredLimits());
    o.saw("closed; QUERY_DEV_LIM answers %s".formatted(same ? "as before" : "something else"));
    o.check(same, "QUERY_DEV_LIM answers something else after CLOSE_HCA");
  }
}
