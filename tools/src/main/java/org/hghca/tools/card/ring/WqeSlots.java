package org.hghca.tools.card.ring;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.hghca.abi.NextUnit;
import org.hghca.tools.card.fields.Fields;
import org.hghca.tools.card.fields.Shown;

/** A work queue in memory: a slot whose next unit is zero holds nothing. */
public abstract sealed class WqeSlots implements Slots permits ReceiveSlots, SendSlots {
  /** Where the interface document defines a request. */
  public static final String TABLE = "tables 3-4-2 to 3-4-13 (WQE)";

  private final MemorySegment ring;
  private final int stride;
  private final KeyMemory keys;
  private final int pd;

  /**
   * A queue.
   *
   * @param ring its bytes
   * @param stride bytes of a slot
   * @param pd protection domain of the elements
   */
  WqeSlots(MemorySegment ring, int stride, KeyMemory keys, int pd) {
    this.ring = ring;
    this.stride = stride;
    this.keys = keys;
    this.pd = pd;
  }

  /** The WQE of a slot. */
  abstract WqeUnits wqe(MemorySegment slot);

  /** What is inconsistent in the WQE of a slot beside its elements. */
  abstract List<String> problems(int slot, WqeUnits wqe);

  @Override
  public final int count() {
    return (int) (ring.byteSize() / stride);
  }

  final MemorySegment bytes(int slot) {
    return ring.asSlice((long) slot * stride, stride);
  }

  final int stride() {
    return stride;
  }

  @Override
  public final boolean isEmpty(int slot) {
    return !NextUnit.isPosted(bytes(slot), 0);
  }

  @Override
  public final Fields fields(int slot) {
    return new Fields()
        .put("offset", Shown.hex((long) slot * stride, 1))
        .put("state", isEmpty(slot) ? "empty" : "written");
  }

  @Override
  public final List<Fields> parts(int slot) {
    return isEmpty(slot) ? List.of() : wqe(bytes(slot)).units();
  }

  @Override
  public final List<String> problems(int slot) {
    if (isEmpty(slot)) {
      return List.of();
    }
    WqeUnits wqe = wqe(bytes(slot));
    List<String> problems = new ArrayList<>(problems(slot, wqe));
    for (WqeUnits.Element element : wqe.elements()) {
      if (element.bytes() > 0) {
        problems.addAll(keys.problems(element.lkey(), pd, element.address(), element.bytes()));
      }
    }
    return problems;
  }
}
