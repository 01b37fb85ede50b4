package org.hghca.verbs;

import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;

/** Who may do what to a memory region or through a queue pair: {@code ibv_access_flags}. */
public enum AccessFlag {
  LOCAL_WRITE(1),
  REMOTE_WRITE(1 << 1),
  REMOTE_READ(1 << 2),
  REMOTE_ATOMIC(1 << 3),
  MW_BIND(1 << 4),
  ZERO_BASED(1 << 5),
  ON_DEMAND(1 << 6),
  RELAXED_ORDERING(1 << 20);

  private final int bit;

  AccessFlag(int bit) {
    this.bit = bit;
  }

  /** The bit in libibverbs. */
  public int bit() {
    return bit;
  }

  /** The bits of a set. */
  public static int bits(Set<AccessFlag> flags) {
    int bits = 0;
    for (AccessFlag flag : flags) {
      bits |= flag.bit;
    }
    return bits;
  }

  /** The set of some flags, each named once or more often. */
  static Set<AccessFlag> setOf(AccessFlag... flags) {
    EnumSet<AccessFlag> set = EnumSet.noneOf(AccessFlag.class);
    Collections.addAll(set, flags);
    return set;
  }

  /** The set of some bits; unknown bits are left out. */
  public static Set<AccessFlag> of(int bits) {
    EnumSet<AccessFlag> flags = EnumSet.noneOf(AccessFlag.class);
    for (AccessFlag flag : values()) {
      if ((bits & flag.bit) != 0) {
        flags.add(flag);
      }
    }
    return flags;
  }
}
