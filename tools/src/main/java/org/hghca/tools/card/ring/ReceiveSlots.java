package org.hghca.tools.card.ring;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.hghca.tools.card.fields.Fields;

/** A receive queue in memory. The card takes a slot as posted when its next unit is not zero. */
public final class ReceiveSlots extends WqeSlots {

  /**
   * A queue.
   *
   * @param ring its bytes
   * @param stride bytes of a slot
   * @param pd protection domain of the elements
   */
  public ReceiveSlots(MemorySegment ring, int stride, KeyMemory keys, int pd) {
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
