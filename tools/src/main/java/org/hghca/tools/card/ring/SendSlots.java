package org.hghca.tools.card.ring;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.hghca.abi.Doorbell;
import org.hghca.abi.NextUnit;
import org.hghca.abi.WqeOpcode;
import org.hghca.tools.card.fields.Fields;

/** A send queue in memory, and its last doorbell. */
public final class SendSlots extends WqeSlots {
  private final OptionalLong doorbell;
  private final OptionalInt completed;
  private final boolean ud;

  /**
   * A queue.
   *
   * @param ring its bytes
   * @param stride bytes of a slot
   * @param pd protection domain of the elements
   * @param doorbell the last one; empty before one
   * @param completed byte offset of the WQE of the newest completion; empty when it is not known
   * @param ud whether its transport is UD
   */
  public SendSlots(
      MemorySegment ring,
      int stride,
      KeyMemory keys,
      int pd,
      OptionalLong doorbell,
      OptionalInt completed,
      boolean ud) {
    super(ring, stride, keys, pd);
    this.doorbell = doorbell;
    this.completed = completed;
    this.ud = ud;
  }

  @Override
  WqeUnits wqe(MemorySegment slot) {
    return WqeUnits.ofSend(slot, ud);
  }

  @Override
  List<String> problems(int slot, WqeUnits wqe) {
    List<String> problems = new ArrayList<>();
    MemorySegment bytes = bytes(slot);
    int opcode = NextUnit.opcode(bytes, 0);
    if (WqeOpcode.name(opcode).startsWith("opcode") || opcode == WqeOpcode.INVALID) {
      problems.add("opcode %02xh is in no table".formatted(opcode));
    }
    int size = NextUnit.size16(bytes, 0) * NextUnit.SIZE;
    if (size == 0 || size > stride()) {
      problems.add("size is %d bytes in a slot of %d".formatted(size, stride()));
    }
    // Older links may name slots that were written again since.
    if (NextUnit.nextSize16(bytes, 0) != 0 && chain().contains(slot)) {
      problems.addAll(next(bytes));
    }
    return problems;
  }

  /** What the unit says of the next WQE, against that WQE. */
  private List<String> next(MemorySegment bytes) {
    int offset = NextUnit.nextHeadUnits16(bytes, 0) * NextUnit.SIZE;
    if (!isSlot(offset)) {
      return List.of("nda is the offset 0x%x, which is no slot".formatted(offset));
    }
    int size = NextUnit.nextSize16(bytes, 0);
    int opcode = NextUnit.nextOpcode(bytes, 0);
    return differences("nds", size, "nop", opcode, offset / stride());
  }

  private List<String> differences(
      String sizeName, int size, String opcodeName, int opcode, int slot) {
    List<String> problems = new ArrayList<>();
    MemorySegment wqe = bytes(slot);
    if (size != NextUnit.size16(wqe, 0)) {
      problems.add(
          "%s is %d, and the WQE in slot %d has the size %d"
              .formatted(sizeName, size, slot, NextUnit.size16(wqe, 0)));
    }
    if (opcode != NextUnit.opcode(wqe, 0)) {
      problems.add(
          "%s is %s, and the WQE in slot %d is %s"
              .formatted(
                  opcodeName,
                  WqeOpcode.name(opcode),
                  slot,
                  WqeOpcode.name(NextUnit.opcode(wqe, 0))));
    }
    return problems;
  }

  private boolean isSlot(int offset) {
    return offset >= 0 && offset % stride() == 0 && offset / stride() < count();
  }

  @Override
  public Fields positions() {
    Fields positions = new Fields();
    positions.put(
        "producer", chain().isEmpty() ? "not known: no doorbell for a slot was rung" : end());
    positions.put(
        "consumer",
        completed.isPresent() && isSlot(completed.getAsInt())
            ? (completed.getAsInt() / stride() + 1) % count()
            : "not known: its CQ holds no completion that was not polled");
    return positions.put("doorbell", doorbell.isPresent() ? text(doorbell.getAsLong()) : "none");
  }

  private static String text(long doorbell) {
    return "qpn=%d sq_head=0x%x size0=%d f=%d opcode=%s"
        .formatted(
            Doorbell.qpn(doorbell),
            Doorbell.headUnits16(doorbell) * NextUnit.SIZE,
            Doorbell.size16(doorbell),
            Doorbell.fence(doorbell),
            WqeOpcode.name(Doorbell.opcode(doorbell)));
  }

  private int end() {
    return (chain().getLast() + 1) % count();
  }

  /** The slots that the last doorbell was for, in their order. */
  private List<Integer> chain() {
    List<Integer> chain = new ArrayList<>();
    int offset = doorbell.isEmpty() ? -1 : head();
    while (isSlot(offset) && chain.size() < count()) {
      MemorySegment bytes = bytes(offset / stride());
      chain.add(offset / stride());
      boolean last = NextUnit.nextSize16(bytes, 0) == 0;
      offset = last ? -1 : NextUnit.nextHeadUnits16(bytes, 0) * NextUnit.SIZE;
    }
    return chain;
  }

  private int head() {
    return Doorbell.headUnits16(doorbell.orElseThrow()) * NextUnit.SIZE;
  }

  @Override
  public List<String> problems() {
    if (doorbell.isEmpty()) {
      return List.of();
    }
    long value = doorbell.getAsLong();
    int offset = head();
    return isSlot(offset)
        ? differences(
            "size0 of the doorbell",
            Doorbell.size16(value),
            "opcode of the doorbell",
            Doorbell.opcode(value),
            offset / stride())
        : List.of("sq_head of the doorbell is the offset 0x%x, which is no slot".formatted(offset));
  }
}
