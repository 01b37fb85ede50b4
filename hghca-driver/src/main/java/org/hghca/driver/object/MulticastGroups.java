package org.hghca.driver.object;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.hghca.abi.DeviceExtension;
import org.hghca.abi.MulticastGroup;
import org.hghca.driver.card.Card;
import org.hghca.driver.card.Limits;
import org.hghca.provider.Failures;
import org.hghca.provider.NumberAllocator;
import org.hghca.provider.Resource;
import org.hghca.verbs.Errno;
import org.hghca.verbs.Gid;
import org.hghca.verbs.VerbsException;

/** The multicast groups of a device, with their queue pairs. Thread-safe. */
final class MulticastGroups {
  private final Card card;
  private final NumberAllocator indexes;
  private final Map<Gid, Group> groups = new HashMap<>();

  /** A group at an index of the device's table; the numbers are replaced, never changed. */
  private record Group(int index, List<Integer> queuePairs) {}

  /**
   * Keeps a queue pair open that is attached to a group.
   *
   * @param group the group
   */
  record Member(Gid group) implements Resource.Claim {
    @Override
    public String label() {
      return group.toString();
    }

    @Override
    public String refusal(String labels) {
      return "takes part in multicast groups: %s: detach it first".formatted(labels);
    }
  }

  MulticastGroups(Card card) {
    this.card = card;
    this.indexes = new NumberAllocator("multicast groups", 0, card.limits().maxMulticastGroups());
  }

  /**
   * Checks whether the device supports such a group.
   *
   * @throws VerbsException EOPNOTSUPP when it supports none, or none of this kind of address;
   *     EINVAL for a GID that is not a group's
   */
  void check(Gid group) {
    if (!card.limits().has(DeviceExtension.MULTICAST)) {
      throw new VerbsException(
          Errno.EOPNOTSUPP,
          "multicast groups: this device has none, only a software HCA of profile s does");
    }
    if (!group.isMulticast()) {
      throw new VerbsException(
          Errno.EINVAL, "GID %s is not that of a multicast group".formatted(group));
    }
    boolean ipv6 = card.limits().has(DeviceExtension.IPV6_ADDRESSES);
    if (group.ipv4().isEmpty() && !ipv6) {
      throw new VerbsException(
          Errno.EOPNOTSUPP,
          "multicast group %s: datagrams of this device carry IPv4 addresses only"
              .formatted(group));
    }
  }

  /** Adds a queue pair to a group, unless it is in it. */
  synchronized void attach(Gid gid, int number) {
    Limits limits = card.limits();
    Group old = groups.get(gid);
    if (old != null && old.queuePairs.contains(number)) {
      return;
    }
    if (old != null && old.queuePairs.size() == limits.maxMulticastAttach()) {
      throw new VerbsException(
          Errno.ENOMEM,
          "multicast group %s has %d queue pairs (max_mcast_qp_attach)"
              .formatted(gid, limits.maxMulticastAttach()));
    }
    int index = old == null ? indexes.allocate() : old.index;
    List<Integer> more = new ArrayList<>(old == null ? List.of() : old.queuePairs);
    more.add(number);
    try {
      write(index, gid, more);
    } catch (RuntimeException e) {
      if (old == null) {
        indexes.free(index);
      }
      throw Failures.of("cannot take part in multicast group %s".formatted(gid), e);
    }
    groups.put(gid, new Group(index, more));
  }

  /** Removes a queue pair from a group; on a failed device only from the driver's list. */
  synchronized void detach(Gid gid, int number) {
    Group old = groups.get(gid);
    if (old == null || !old.queuePairs.contains(number)) {
      throw new VerbsException(
          Errno.EINVAL,
          "QP 0x%06x does not take part in multicast group %s".formatted(number, gid));
    }
    List<Integer> fewer = old.queuePairs.stream().filter(other -> other != number).toList();
    try {
      write(old.index, gid, fewer);
    } catch (RuntimeException e) {
      if (!card.health().isDead()) {
        throw Failures.of("cannot leave multicast group %s".formatted(gid), e);
      }
    }
    if (fewer.isEmpty()) {
      groups.remove(gid);
      indexes.free(old.index);
    } else {
      groups.put(gid, new Group(old.index, fewer));
    }
  }

  private void write(int index, Gid gid, List<Integer> queuePairs) {
    MulticastGroup group = new MulticastGroup(gid.subnetPrefix(), gid.interfaceId(), queuePairs);
    card.commands().writeMgm(index, group);
  }
}
