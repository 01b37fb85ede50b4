package org.hghca.tools.card.ring;

import java.util.List;
import org.hghca.tools.card.fields.Fields;

/** The slots of a ring in memory, by their fields. */
public interface Slots {
  /** How many there are. */
  int count();

  /** Whether a slot holds nothing. */
  boolean isEmpty(int slot);

  /** The fields of a slot. */
  Fields fields(int slot);

  /** The parts of a slot in their order, each on a line; empty where its fields are all. */
  default List<Fields> parts(int slot) {
    return List.of();
  }

  /** What is inconsistent in a slot, one a line. */
  List<String> problems(int slot);

  /** Where producer and consumer are, as far as memory and doorbells tell. */
  Fields positions();

  /** What is inconsistent between slots, one a line. */
  List<String> problems();
}
