package org.hghca.verbs;

import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;

/** The rights to a memory region or through a queue pair: {@code ibv_access_flags}. */
public enum AccessFlag {
  /** The device writes the memory for its owner: receives, READ results, results of atomics. */
  LOCAL_WRITE(1),
  /** Peers write; of a region, only together with {@link #LOCAL_WRITE}. */
  REMOTE_WRITE(1 << 1),
  REMOTE_READ(1 << 2),
  /** Peers execute atomics; of a region, only together with {@link #LOCAL_WRITE}. */
  REMOTE_ATOMIC(1 << 3),
  /** Memory windows may be bound to the region. */
  MW_BIND(1 << 4),
  /** Addresses of the region start at 0, not at the address of its memory. */
  ZERO_BASED(1 << 5),
  /** The memory is not pinned. */
  ON_DEMAND(1 << 6),
  /** A hint, which a device may ignore. */
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

  /** The set of some flags; duplicates are allowed. */
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
