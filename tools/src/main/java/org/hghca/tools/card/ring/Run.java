package org.hghca.tools.card.ring;

import java.util.List;
import java.util.OptionalInt;
import java.util.function.IntPredicate;

/**
 * The run of slots of a ring that hold something.
 *
 * @param first its first slot; empty when no slot or every slot holds something
 * @param end the first slot behind it; empty likewise
 * @param pieces how many runs there are
 */
record Run(OptionalInt first, OptionalInt end, int pieces) {

  /** Finds it. */
  static Run of(int slots, IntPredicate holds) {
    OptionalInt first = OptionalInt.empty();
    OptionalInt end = OptionalInt.empty();
    int pieces = 0;
    for (int i = 0; i < slots; i++) {
      boolean before = holds.test((i + slots - 1) % slots);
      if (holds.test(i) && !before) {
        pieces++;
        first = OptionalInt.of(i);
      } else if (!holds.test(i) && before) {
        end = OptionalInt.of(i);
      }
    }
    return new Run(first, end, pieces);
  }

  /** More than one run is inconsistent. */
  List<String> problems() {
    return pieces > 1
        ? List.of("the slots that hold something are in %d pieces".formatted(pieces))
        : List.of();
  }

  /** A position for people; says why it is not known. */
  static Object shown(OptionalInt slot) {
    return slot.isPresent()
        ? slot.getAsInt()
        : "not known: none or all of the slots hold something";
  }
}
