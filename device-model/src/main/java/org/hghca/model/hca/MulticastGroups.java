package org.hghca.model.hca;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import org.hghca.abi.MulticastGroup;
import org.hghca.model.transport.GroupMembers;
import org.hghca.wire.EthernetPort;
import org.hghca.wire.IpAddress;

/**
 * The table of multicast groups: gives the transport their members, and the port their addresses.
 */
final class MulticastGroups {
  private static final MulticastGroup FREE = new MulticastGroup(0, 0, List.of());
  private static final int[] NO_MEMBERS = {};

  private final MulticastGroup[] groups = new MulticastGroup[MulticastGroup.GROUPS];
  private final GroupMembers members;
  private final EthernetPort port;

  MulticastGroups(GroupMembers members, EthernetPort port) {
    this.members = members;
    this.port = port;
    Arrays.fill(groups, FREE);
  }

  /** READ_MGM; returns whether there is such an index. */
  boolean read(int index, MemorySegment mailbox) {
    boolean exists = exists(index);
    if (exists) {
      groups[index].encode(mailbox);
    }
    return exists;
  }

  /**
   * WRITE_MGM.
   *
   * @return false when the index does not exist, the GID is not a group's or another index has it,
   *     or the network does not let the port join
   */
  boolean write(int index, MemorySegment mailbox) {
    if (!exists(index)) {
      return false;
    }
    MulticastGroup from = groups[index];
    MulticastGroup to = MulticastGroup.decode(mailbox);
    boolean stays = !isFree(from) && !isFree(to) && haveOneGid(from, to);
    if (!stays && !isFree(to) && !(isNew(to) && port.join(to.gidHigh(), to.gidLow()))) {
      return false;
    }
    if (!stays) {
      end(from);
    }
    groups[index] = isFree(to) ? FREE : to;
    if (!isFree(to)) {
      int[] numbers = to.queuePairs().stream().mapToInt(Integer::intValue).toArray();
      members.set(to.gidHigh(), to.gidLow(), numbers);
    }
    return true;
  }

  private static boolean exists(int index) {
    return index >= 0 && index < MulticastGroup.GROUPS;
  }

  private static boolean isFree(MulticastGroup group) {
    return group.queuePairs().isEmpty();
  }

  private static boolean haveOneGid(MulticastGroup one, MulticastGroup other) {
    return one.gidHigh() == other.gidHigh() && one.gidLow() == other.gidLow();
  }

  /** Whether the GID is a group's, and no other index has it. */
  private boolean isNew(MulticastGroup group) {
    return IpAddress.isGroup(group.gidHigh(), group.gidLow())
        && Arrays.stream(groups).noneMatch(old -> !isFree(old) && haveOneGid(old, group));
  }

  private void end(MulticastGroup group) {
    if (!isFree(group)) {
      members.set(group.gidHigh(), group.gidLow(), NO_MEMBERS);
      port.leave(group.gidHigh(), group.gidLow());
    }
  }

  /** Clears all groups. */
  void reset() {
    for (MulticastGroup group : groups) {
      end(group);
    }
    Arrays.fill(groups, FREE);
  }
}
