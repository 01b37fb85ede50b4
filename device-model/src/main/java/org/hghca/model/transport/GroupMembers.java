package org.hghca.model.transport;

/**
 * Which queue pairs take part in which multicast groups: an open hash table by the address of the
 * group, at most half full. Looking up allocates nothing. Used by one thread.
 */
public final class GroupMembers {
  /** The members of an address that is no group. */
  static final int[] NONE = {};

  private long[] addresses = new long[2 * 16];
  private int[][] members = new int[16][];
  private int count;

  /** The members of a group. */
  int[] of(long high, long low) {
    int[] found = members[slot(high, low)];
    return found == null ? NONE : found;
  }

  /**
   * Sets the members of a group.
   *
   * @param queuePairs their numbers; none ends the group
   */
  public void set(long high, long low, int[] queuePairs) {
    int slot = slot(high, low);
    if (members[slot] == null) {
      if (queuePairs.length == 0) {
        return;
      }
      count++;
      addresses[2 * slot] = high;
      addresses[2 * slot + 1] = low;
    }
    members[slot] = queuePairs;
    if (queuePairs.length == 0) {
      members[slot] = null;
      count--;
      rebuild(members.length);
    } else if (2 * count > members.length) {
      rebuild(2 * members.length);
    }
  }

  private void rebuild(int slots) {
    long[] oldAddresses = addresses;
    int[][] oldMembers = members;
    addresses = new long[2 * slots];
    members = new int[slots][];
    for (int i = 0; i < oldMembers.length; i++) {
      if (oldMembers[i] != null) {
        long high = oldAddresses[2 * i];
        long low = oldAddresses[2 * i + 1];
        int slot = slot(high, low);
        addresses[2 * slot] = high;
        addresses[2 * slot + 1] = low;
        members[slot] = oldMembers[i];
      }
    }
  }

  /** The slot of a group, or the free one that it would get. */
  private int slot(long high, long low) {
    int mask = members.length - 1;
    int slot = Long.hashCode((high * 31 + low) * 0x9e37_79b9_7f4a_7c15L) & mask;
    while (members[slot] != null
        && (addresses[2 * slot] != high || addresses[2 * slot + 1] != low)) {
      slot = slot + 1 & mask;
    }
    return slot;
  }
}
