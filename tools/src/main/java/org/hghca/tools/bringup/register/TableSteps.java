package org.hghca.tools.bringup.register;

import java.util.List;
import org.hghca.abi.CompletionQueueContext;
import org.hghca.abi.EventQueueContext;
import org.hghca.abi.EventType;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.InitHca;
import org.hghca.abi.MapIcm;
import org.hghca.abi.MptFlags;
import org.hghca.icm.IcmTable;
import org.hghca.mailbox.CommandInterface;
import org.hghca.tools.bringup.board.Board;
import org.hghca.tools.bringup.step.Capability;
import org.hghca.tools.bringup.step.Observation;
import org.hghca.tools.bringup.step.Step;
import org.hghca.tools.raw.RawRegion;
import org.hghca.tools.raw.RawTables;
import org.hghca.vfio.DmaMapping;

/** The tables in ICM, and objects that are added to them and removed. */
public final class TableSteps {
  private static final String ICM = "interface document, 3.2.2.1, tables 3-2-12 to 3-2-14";
  private static final int CQN = 7;
  private static final int EQN = 1;
  private static final int PD = 2;

  private final Board board;

  public TableSteps(Board board) {
    this.board = board;
  }

  public List<Step> steps() {
    return List.of(
        Step.of(
                "hca.init",
                "INIT_HCA",
                "interface document, 3.2.1.3, tables 3-2-9 and 3-2-10",
                "the inbox: bases are multiples of 4096 and differ; is the mailbox big-endian?",
                this::init,
                Capability.LIMITS)
            .giving(Capability.TABLES),
        map("icm.qpc", IcmTable.QPC, Capability.QPC_PAGES),
        map("icm.cqc", IcmTable.CQC, Capability.CQC_PAGES),
        map("icm.eqc", IcmTable.EQC, Capability.EQC_PAGES),
        map("icm.mpt", IcmTable.MPT, Capability.MPT_PAGES),
        map("icm.mtt", IcmTable.MTT, Capability.MTT_PAGES),
        Step.of(
                "mtt.write",
                "WRITE_MTT: 1, 5 and 254 entries",
                "interface document, 3.2.3.3, tables 3-2-20 and 3-2-21; RTL VTP/mttm_proc.v",
                "the length of the inbox: 32 bytes and 32 for each four entries",
                this::writeMtt,
                Capability.MTT_PAGES)
            .giving(Capability.TRANSLATIONS),
        Step.of(
                "mpt.entry",
                "SW2HW_MPT and HW2SW_MPT",
                "interface document, 3.2.3.1 and 3.2.3.2, tables 3-2-17 to 3-2-19",
                "the MPT page must be mapped, or the card reads bus address 0",
                this::mpt,
                Capability.TRANSLATIONS,
                Capability.MPT_PAGES)
            .giving(Capability.REGIONS),
        Step.of(
                "cq.entry",
                "SW2HW_CQ and HW2SW_CQ",
                "interface document, 3.2.5.1 and 3.2.5.2, tables 3-2-32 to 3-2-34",
                "the CQC page must be mapped",
                this::completionQueue,
                Capability.REGIONS,
                Capability.CQC_PAGES)
            .giving(Capability.COMPLETION_QUEUES),
        Step.of(
            "eq.entry",
            "SW2HW_EQ, MAP_EQ and HW2SW_EQ",
            "interface document, 3.2.4, tables 3-2-24 to 3-2-29",
            "the EQC page must be mapped; the RTL stores the context and never uses it",
            this::eventQueue,
            Capability.REGIONS,
            Capability.EQC_PAGES));
  }

  private Step map(String id, IcmTable table, Capability pages) {
    int count = RawTables.usedPages(table);
    return Step.of(
            id,
            "MAP_ICM: %d page%s of %s".formatted(count, count == 1 ? "" : "s", table),
            ICM,
            "one table in a command, the later entry of a pair first, pages counted and not log2",
            o -> map(o, table, count),
            Capability.TABLES)
        .giving(pages);
  }

  private CommandInterface commands() {
    return board.commands();
  }

  private void init(Observation o) {
    InitHca layout = board.tables().layout();
    o.expect("status 00");
    commands().initHca(layout);
    o.saw(
        "QPC at %xh (log2 %d), CQC at %xh (%d), EQC at %xh (%d), MPT at %xh (%d), MTT at %xh"
            .formatted(
                layout.qpcBase(),
                layout.logQps(),
                layout.cqcBase(),
                layout.logCqs(),
                layout.eqcBase(),
                layout.logEqs(),
                layout.mptBase(),
                layout.logMpts(),
                layout.mttBase()));
  }

  private void map(Observation o, IcmTable table, int pages) {
    HardwareProfile profile = board.profile();
    o.expect(
        "status 00 for commands of at most %d entries of at most %,d pages"
            .formatted(profile.mapIcmMaxEntries(), profile.mapIcmMaxPagesPerEntry()));
    int given = board.tables().map(table, pages);
    DmaMapping memory = board.tables().pages(table);
    o.saw(
        "%d page(s) at %xh to bus address %xh in %d command(s)"
            .formatted(pages, board.tables().base(table), memory.iova(0), given));
  }

  private void writeMtt(Observation o) {
    o.expect("status 00");
    int[] counts = {1, 5, 254};
    for (int count : counts) {
      DmaMapping page = board.tables().allocate(MapIcm.PAGE_SIZE);
      int first = board.tables().writeMtt(page, 1, count);
      o.saw(
          "%d entries from %d on, all of them the page at %xh"
              .formatted(count, first, page.iova(0)));
    }
  }

  private void mpt(Observation o) {
    o.expect("status 00");
    RawTables tables = board.tables();
    RawRegion region =
        tables.register(
            tables.allocate(2L * MapIcm.PAGE_SIZE),
            PD,
            MptFlags.LOCAL_WRITE | MptFlags.REMOTE_READ,
            0x10_0000);
    commands().hw2swMpt(region.index());
    o.saw(
        "entry %d, key %08x: given to the card and taken back"
            .formatted(region.index(), region.key()));
  }

  private void completionQueue(Observation o) {
    o.expect("status 00");
    RawTables tables = board.tables();
    RawRegion ring =
        tables.register(tables.allocate(MapIcm.PAGE_SIZE), PD, MptFlags.LOCAL_WRITE, 0);
    commands()
        .sw2hwCq(
            CQN,
            new CompletionQueueContext(
                CompletionQueueContext.TRANSLATE, 0, 4, 0, 0, PD, ring.key(), CQN));
    commands().hw2swCq(CQN);
    commands().hw2swMpt(ring.index());
    o.saw("CQ %d of 16 entries: given to the card and taken back".formatted(CQN));
  }

  private void eventQueue(Observation o) {
    o.expect("status 00%s".formatted(board.isRtl() ? "; no event ever comes" : ""));
    RawTables tables = board.tables();
    RawRegion ring =
        tables.register(tables.allocate(MapIcm.PAGE_SIZE), PD, MptFlags.LOCAL_WRITE, 0);
    commands()
        .sw2hwEq(
            EQN,
            new EventQueueContext(
                EventQueueContext.OWNER_HW | EventQueueContext.TRANSLATE,
                0,
                6,
                0,
                PD,
                ring.key(),
                0,
                0));
    commands().mapEq(EQN, false, EventType.ASYNC_MASK);
    commands().mapEq(EQN, true, EventType.ASYNC_MASK);
    commands().hw2swEq(EQN);
    commands().hw2swMpt(ring.index());
    o.saw("EQ %d of 64 entries: events mapped to it and away again".formatted(EQN));
  }
}
