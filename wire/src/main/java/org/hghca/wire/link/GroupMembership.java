package org.hghca.wire.link;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import org.hghca.wire.IpAddress;
import org.hghca.wire.PortAddresses;
import org.hghca.wire.frame.ListenerFrame;
import org.hghca.wire.frame.MembershipFrame;

/**
 * The multicast groups of a port on an Ethernet, and the pending reports about them, by IGMP for
 * IPv4 and by MLD for IPv6. A change is reported twice, within a second, as Linux does it; a query
 * is answered within the time that it grants, see {@link GroupAnswer}. Thread-safe: the poller
 * receives queries, and looks up the group of a packet, while the owner joins.
 *
 * <p>Times are by {@link System#nanoTime}.
 */
final class GroupMembership {
  /** Bytes of the longest written frame. */
  static final int LONGEST_FRAME = ListenerFrame.SIZE;

  /** How often a change is reported: the robustness variable (RFC 3376, 8.1; RFC 3810, 9.1). */
  private static final int ROBUSTNESS = 2;

  /** The longest time between two of these reports (RFC 3376, 8.11; RFC 3810, 9.11). */
  private static final long INTERVAL = 1_000_000_000L;

  /** Without a peer reports wait: then the oldest is dropped, as a query requests it again. */
  private static final int MOST_PENDING = 4096;

  private final long mac;
  private final PortAddresses addresses;
  private final SplittableRandom random;
  private final GroupAnswer ofIpv4;
  private final GroupAnswer ofIpv6;

  /** Reports of changes, by their time; those of the same time in the order of the changes. */
  private final PriorityQueue<Report> pending =
      new PriorityQueue<>(
          Comparator.<Report>comparingLong(report -> report.due)
              .thenComparingLong(report -> report.number));

  /** The number of changes. */
  private long changes;

  /** Groups in which others look for the port, upper and lower half of each in turn. */
  private final long[] solicited;

  /** Joined groups, upper and lower half of each in turn, sorted; replaced, never changed. */
  private volatile long[] groups = {};

  /** When {@link #write} has a frame. */
  private volatile long due = Long.MAX_VALUE;

  private static final class Report {
    final int record;
    final long high;
    final long low;
    final long number;
    int left = ROBUSTNESS;
    boolean sent;
    long due;

    Report(int record, long high, long low, long number, long due) {
      this.record = record;
      this.high = high;
      this.low = low;
      this.number = number;
      this.due = due;
    }

    boolean isOf(long groupHigh, long groupLow) {
      return high == groupHigh && low == groupLow;
    }
  }

  /**
   * Groups of a port with these addresses.
   *
   * @param solicits whether it is in the groups in which its IPv6 addresses are solicited, too
   */
  GroupMembership(long mac, PortAddresses addresses, boolean solicits) {
    this.mac = mac;
    this.addresses = addresses;
    this.random = new SplittableRandom(mac);
    this.ofIpv4 = new GroupAnswer(random);
    this.ofIpv6 = new GroupAnswer(random);
    this.solicited = solicits ? solicited(addresses) : new long[0];
  }

  private static long[] solicited(PortAddresses addresses) {
    long[] found = {};
    for (int i = 0; i < addresses.count(); i++) {
      long low = IpAddress.lowOfSolicitedNode(addresses.low(i));
      if (IpAddress.isIpv6(addresses.high(i), addresses.low(i))
          && find(found, IpAddress.LINK_GROUP_HIGH, low) < 0) {
        found = with(found, IpAddress.LINK_GROUP_HIGH, low);
      }
    }
    return found;
  }

  /** The lower halves of the groups in which others look for the port; the upper one is ff02::. */
  long[] solicitedLows() {
    long[] lows = new long[solicited.length / 2];
    for (int i = 0; i < lows.length; i++) {
      lows[i] = solicited[2 * i + 1];
    }
    return lows;
  }

  /** The place of a group, or -1 less the place where it belongs. */
  private static int find(long[] all, long high, long low) {
    int from = 0;
    int to = all.length / 2;
    while (from < to) {
      int middle = (from + to) >>> 1;
      int order = Long.compare(all[2 * middle], high);
      order = order != 0 ? order : Long.compare(all[2 * middle + 1], low);
      if (order == 0) {
        return middle;
      }
      from = order < 0 ? middle + 1 : from;
      to = order < 0 ? to : middle;
    }
    return -1 - from;
  }

  private static long[] with(long[] all, long high, long low) {
    int place = 2 * (-1 - find(all, high, low));
    long[] more = Arrays.copyOf(all, all.length + 2);
    System.arraycopy(all, place, more, place + 2, all.length - place);
    more[place] = high;
    more[place + 1] = low;
    return more;
  }

  /**
   * Joins a group, in which the port is not.
   *
   * @return whether the port has an address of its family
   */
  synchronized boolean join(long high, long low, long now) {
    if ((high | low) == 0 || addresses.toward(high, low) < 0) {
      return false;
    }
    groups = with(groups, high, low);
    change(MembershipFrame.JOINS, high, low, now);
    return true;
  }

  /** Leaves a group, in which the port is. */
  synchronized void leave(long high, long low, long now) {
    int place = 2 * find(groups, high, low);
    long[] fewer = Arrays.copyOf(groups, groups.length - 2);
    System.arraycopy(groups, place + 2, fewer, place, fewer.length - place);
    groups = fewer;
    change(MembershipFrame.LEAVES, high, low, now);
  }

  /** Earlier changes of the group are reported once, and not again behind this one. */
  private void change(int record, long high, long low, long now) {
    pending.removeIf(report -> report.isOf(high, low) && report.sent);
    for (Report report : pending) {
      if (report.isOf(high, low)) {
        report.left = 1;
      }
    }
    add(record, high, low, now);
    findDue();
  }

  private void add(int record, long high, long low, long now) {
    if (pending.size() == MOST_PENDING) {
      pending.remove();
    }
    pending.add(new Report(record, high, low, changes++, now));
  }

  private void findDue() {
    Report first = pending.peek();
    long answer = Math.min(ofIpv4.due(), ofIpv6.due());
    due = first == null ? answer : Math.min(first.due, answer);
  }

  /** Whether the port is in a group. */
  boolean contains(long high, long low) {
    return find(groups, high, low) >= 0;
  }

  /**
   * A query of a router or switch. One about a group in which the port is not has no answer.
   *
   * @param high upper half of the group; 0, with {@code low} 0, for all of the family
   * @param response the maximum response time in nanoseconds
   */
  synchronized void queried(boolean ipv4, long high, long low, long response, long now) {
    if ((high | low) == 0 || isIn(high, low)) {
      (ipv4 ? ofIpv4 : ofIpv6).queried(high, low, response, now);
      findDue();
    }
  }

  private boolean isIn(long high, long low) {
    return contains(high, low) || find(solicited, high, low) >= 0;
  }

  private long[] all(boolean ipv4) {
    long[] found = new long[solicited.length + groups.length];
    int count = 0;
    for (long[] all : new long[][] {solicited, groups}) {
      for (int i = 0; i < all.length; i += 2) {
        if (IpAddress.isIpv4(all[i], all[i + 1]) == ipv4) {
          found[count++] = all[i];
          found[count++] = all[i + 1];
        }
      }
    }
    return Arrays.copyOf(found, count);
  }

  /** The port is at another network, to which it reports all groups. */
  synchronized void moved(long now) {
    pending.clear();
    ofIpv4.clear();
    ofIpv6.clear();
    for (long[] all : new long[][] {solicited, groups}) {
      for (int i = 0; i < all.length; i += 2) {
        add(MembershipFrame.JOINS, all[i], all[i + 1], now);
      }
    }
    findDue();
  }

  /** When there is a frame to send; {@link Long#MAX_VALUE} when no report is pending. */
  long due() {
    return due;
  }

  /**
   * Writes the next frame to send.
   *
   * @return its bytes, at most {@link #LONGEST_FRAME}; 0 when none is due
   */
  synchronized int write(MemorySegment memory, long at, long now) {
    Report first = pending.peek();
    int length;
    if (first != null && first.due <= now) {
      repeatLater(pending.remove(), now);
      length = write(memory, at, first.record, first.high, first.low);
    } else {
      length = answer(ofIpv4, true, memory, at, now);
      length = length > 0 ? length : answer(ofIpv6, false, memory, at, now);
    }
    findDue();
    return length;
  }

  private void repeatLater(Report report, long now) {
    if (--report.left > 0) {
      report.sent = true;
      report.due = now + 1 + random.nextLong(INTERVAL);
      pending.add(report);
    }
  }

  private int answer(GroupAnswer answer, boolean ipv4, MemorySegment memory, long at, long now) {
    if (answer.starts(now)) {
      answer.start(all(ipv4), now);
    }
    while (answer.next(now)) {
      if (isIn(answer.high(), answer.low())) { // the port may have left it meanwhile
        return write(memory, at, MembershipFrame.IS_IN, answer.high(), answer.low());
      }
    }
    return 0;
  }

  private int write(MemorySegment memory, long at, int record, long high, long low) {
    if (IpAddress.isIpv4(high, low)) {
      int from = addresses.toward(high, low);
      int source = IpAddress.ipv4(addresses.high(from), addresses.low(from));
      int group = IpAddress.ipv4(high, low);
      MembershipFrame.write(memory, at, mac, source, record, group);
      return MembershipFrame.SIZE;
    }
    int from = addresses.toward(IpAddress.LINK_LOCAL_HIGH, 0);
    boolean isLocal = addresses.high(from) == IpAddress.LINK_LOCAL_HIGH; // or :: must stand for it
    ListenerFrame.write(
        memory,
        at,
        mac,
        isLocal ? addresses.high(from) : 0,
        isLocal ? addresses.low(from) : 0,
        record,
        high,
        low);
    return ListenerFrame.SIZE;
  }
}
