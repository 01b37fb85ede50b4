package org.hghca.tools.card;

/**
 * Which slots of a ring a line names.
 *
 * @param from the first
 * @param to the last
 */
record SlotRange(long from, long to) {
  /** All that hold something. */
  static final SlotRange ALL = new SlotRange(0, -1);

  private static final int BITS = 24;

  /** Takes the words {@code slot N} or {@code slot FROM-TO}, where they are. */
  static SlotRange of(Words words) {
    if (!words.peek().equals("slot")) {
      return ALL;
    }
    words.next();
    String text = words.next("a slot is missing: slot N, or slot FROM-TO");
    int dash = text.indexOf('-', 1);
    long from = Numbers.parse("a slot", dash < 0 ? text : text.substring(0, dash), BITS);
    long to = dash < 0 ? from : Numbers.parse("a slot", text.substring(dash + 1), BITS);
    if (to < from) {
      throw new RequestFailedException("slot %s names none: FROM is beyond TO".formatted(text));
    }
    return new SlotRange(from, to);
  }

  /** Whether the line names none: all that hold something are meant. */
  boolean isAll() {
    return to < from;
  }

  boolean contains(int slot) {
    return slot >= from && slot <= to;
  }

  /** Refuses slots outside a ring. */
  void checkInside(long slots) {
    if (to >= slots) {
      throw new RequestFailedException(
          "slot %d is outside: the ring has the slots 0 to %d".formatted(to, slots - 1));
    }
  }
}
