package org.hghca.wire.link;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import org.hghca.wire.IpAddress;
import org.hghca.wire.PortAddresses;
import org.hghca.wire.frame.MembershipFrame;

/**
 * The IPv4 multicast groups of a port on an Ethernet, and the pending reports about them. A query
 * is answered at once, with all groups. Thread-safe: the poller receives queries, and looks up the
 * group of a packet, while the owner joins.
 */
final class GroupMembership {
  /** Without a peer reports wait: then the oldest is dropped, as a query requests it again. */
  private static final int MOST_DUE = 4096;

  private final long mac;
  private final PortAddresses addresses;
  private final Deque<Report> due = new ArrayDeque<>();

  /** Sorted; replaced, never changed. */
  private volatile int[] groups = {};

  private record Report(int record, int group) {}

  /** Groups of a port with these addresses. */
  GroupMembership(long mac, PortAddresses addresses) {
    this.mac = mac;
    this.addresses = addresses;
  }

  /** The own address that packets to a group have, 0 for none. */
  private int source(int group) {
    int from = addresses.toward(0, IpAddress.lowOfIpv4(group));
    return from < 0 ? 0 : IpAddress.ipv4(addresses.high(from), addresses.low(from));
  }

  /**
   * Joins a group.
   *
   * @param group 0 for an address that is not IPv4
   * @return whether it is an IPv4 address, and the port has one
   */
  synchronized boolean join(int group) {
    if (group == 0 || source(group) == 0) {
      return false;
    }
    int[] more = Arrays.copyOf(groups, groups.length + 1);
    more[groups.length] = group;
    Arrays.sort(more);
    groups = more;
    report(MembershipFrame.JOINS, group);
    return true;
  }

  synchronized void leave(int group) {
    groups = Arrays.stream(groups).filter(other -> other != group).toArray();
    report(MembershipFrame.LEAVES, group);
  }

  private void report(int record, int group) {
    if (due.size() == MOST_DUE) {
      due.remove();
    }
    due.add(new Report(record, group));
  }

  /** Whether the port is in a group. */
  boolean contains(int group) {
    return Arrays.binarySearch(groups, group) >= 0;
  }

  /** Reports of all groups are pending, instead of earlier ones. */
  synchronized void queried() {
    due.clear();
    for (int group : groups) {
      due.add(new Report(MembershipFrame.IS_IN, group));
    }
  }

  /** Whether there are frames to send. */
  synchronized boolean hasFrames() {
    return !due.isEmpty();
  }

  /**
   * Writes the next frame to send, of {@link MembershipFrame#SIZE} bytes.
   *
   * @return false when there is none
   */
  synchronized boolean write(MemorySegment memory, long at) {
    Report report = due.poll();
    if (report == null) {
      return false;
    }
    MembershipFrame.write(memory, at, mac, source(report.group), report.record, report.group);
    return true;
  }
}
