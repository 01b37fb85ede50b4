package org.hghca.tools.card;

import java.lang.foreign.MemorySegment;
import java.util.List;

/** A receive queue in memory. The card takes a slot as posted when its next unit is not zero. */
final class ReceiveSlots extends WqeSlots {

  ReceiveSlots(MemorySegment ring, int stride, KeyMemory keys, int pd) {
    super(ring, stride, keys, pd);
  }

  @Override
  WqeUnits wqe(MemorySegment slot) {
    return WqeUnits.ofReceive(slot);
  }

  @Override
  List<String> problems(int slot, WqeUnits wqe) {
    return wqe.isTerminated()
        ? List.of()
        : List.of("no unit of zeros ends the list: the card reads into the next slot");
  }

  private Run posted() {
    return Run.of(count(), slot -> !isEmpty(slot));
  }

  @Override
  public Fields positions() {
    return new Fields()
        .put("producer", Run.shown(posted().end()))
        .put("consumer", Run.shown(posted().first()));
  }

  @Override
  public List<String> problems() {
    return posted().problems();
  }
}
