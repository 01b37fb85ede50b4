package org.hghca.tools.raw;

import java.util.ArrayList;
import java.util.List;

/** The names of single bits of a register, from bit 0 on; null for a bit without a name. */
public final class BitNames {
  private final String[] names;

  private BitNames(String... names) {
    this.names = names;
  }

  /** Names that are separated by commas; a dash stands for a bit without a name. */
  public static BitNames of(String names) {
    return new BitNames(names.split(", *"));
  }

  /** The names of the bits that are set; a bit without a name is skipped. */
  public List<String> set(int value) {
    List<String> set = new ArrayList<>();
    for (int bit = 0; bit < names.length; bit++) {
      if ((value >>> bit & 1) != 0 && !names[bit].equals("-")) {
        set.add(names[bit]);
      }
    }
    return set;
  }
}
