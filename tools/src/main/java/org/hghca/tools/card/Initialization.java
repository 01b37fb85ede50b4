package org.hghca.tools.card;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.hghca.abi.DeviceLimits;
import org.hghca.abi.HcrCommand;
import org.hghca.abi.InitHca;
import org.hghca.icm.IcmTable;
import org.hghca.mailbox.HcrProbe;
import org.hghca.tools.card.fields.Fields;
import org.hghca.tools.card.fields.Shown;
import org.hghca.tools.raw.RawTables;

/** {@code init}: a card from its reset until contexts can be given to it. */
final class Initialization {
  private final Card card;

  Initialization(Card card) {
    this.card = card;
  }

  /** Does all of it; the reply has the steps that were done, also when one fails. */
  void run(Fields reply) {
    if (card.isKept()) {
      throw new RequestFailedException(
          "init would reset the card that bringup has left: quit, and use hghca card");
    }
    boolean canReset = card.function().canReset();
    if (card.isInitialized() && !canReset) {
      throw new RequestFailedException(
          "the function has no reset, and its tables are mapped already: end the session to begin"
              + " anew");
    }
    card.checkPresent();
    card.stop();
    reply.put("reset", canReset ? "done" : "none: the function has no reset");
    card.decodeMemory();
    card.function().configuration().busMaster(true);
    reply.put("memory_space", true);
    reply.put("bus_master", true);
    List<HcrProbe> probes = card.probe();
    reply.put("hcr", Shown.hex(probes.getLast().base(), 5));
    DeviceLimits limits = limits();
    card.recognize(limits);
    reply.put("profile", card.profileName());
    if (card.profile().isEmpty()) {
      throw new RequestFailedException(
          "QUERY_DEV_LIM names 2^%d queue pairs and 2^%d completion queues, which are those of no"
                  .formatted(limits.maxQpsLog(), limits.maxCqsLog())
              + " profile: --profile r1 or --profile r2 treats the card as one");
    }
    initialize(reply, limits);
  }

  private DeviceLimits limits() {
    HcrRun.End end = new HcrRun(card).query(HcrCommand.QUERY_DEV_LIM, 0);
    if (!end.isOk()) {
      throw new RequestFailedException(
          "QUERY_DEV_LIM ended with status %s".formatted(end.describe()));
    }
    return DeviceLimits.decode(MemorySegment.ofArray(end.outbox()));
  }

  private void initialize(Fields reply, DeviceLimits limits) {
    RawTables tables = card.layOut(limits);
    InitHca layout = tables.layout();
    card.commands().initHca(layout);
    reply.put("INIT_HCA", bases(layout));
    Fields mapped = new Fields();
    reply.put("MAP_ICM", mapped);
    for (IcmTable table : IcmTable.values()) {
      int count = RawTables.usedPages(table);
      int given = tables.map(table, count);
      mapped.put(
          table.name(),
          "%d page%s at 0x%x to bus address 0x%x in %d command%s"
              .formatted(
                  count,
                  count == 1 ? "" : "s",
                  tables.base(table),
                  tables.pages(table).iova(0),
                  given,
                  given == 1 ? "" : "s"));
    }
  }

  private static Fields bases(InitHca layout) {
    return new Fields()
        .put("qpc_base", Shown.hex(layout.qpcBase(), 1))
        .put("cqc_base", Shown.hex(layout.cqcBase(), 1))
        .put("eqc_base", Shown.hex(layout.eqcBase(), 1))
        .put("mpt_base", Shown.hex(layout.mptBase(), 1))
        .put("mtt_base", Shown.hex(layout.mttBase(), 1));
  }
}
