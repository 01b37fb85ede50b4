package org.hghca.wire.link;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.Iterator;
import java.util.SplittableRandom;
import org.hghca.wire.IpAddress;
import org.hghca.wire.PortAddresses;
import org.hghca.wire.frame.ListenerFrame;
import org.hghca.wire.frame.MembershipFrame;

/**
 * The multicast groups of a port on an Ethernet, and the pending reports about them, by IGMP for
 * IPv4 and by MLD for IPv6. A change is reported twice, within a second, as Linux does it; a query
 * is answered at once, with all groups of its family. Thread-safe: the poller receives queries, and
 * looks up the group of a packet, while the owner joins.
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
  private final Deque<Report> pending = new ArrayDeque<>();
  private final SplittableRandom random;

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
    int left;
    long due;

    Report(int record, long high, long low, int left, long due) {
      this.record = record;
      this.high = high;
      this.low = low;
      this.left = left;
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

  /** A change is not repeated once the next one is known. */
  private void change(int record, long high, long low, long now) {
    pending.removeIf(report -> report.isOf(high, low) && report.left < ROBUSTNESS);
    add(new Report(record, high, low, ROBUSTNESS, now));
    findDue();
  }

  private void add(Report report) {
    if (pending.size() == MOST_PENDING) {
      pending.remove();
    }
    pending.add(report);
  }

  private void findDue() {
    long first = Long.MAX_VALUE;
    for (Report report : pending) {
      first = Math.min(first, report.due);
    }
    due = first;
  }

  /** Whether the port is in a group. */
  boolean contains(long high, long low) {
    return find(groups, high, low) >= 0;
  }

  /** A query: reports of all groups of its family are pending, instead of those of joins. */
  synchronized void queried(boolean ipv4, long now) {
    pending.removeIf(
        report ->
            IpAddress.isIpv4(report.high, report.low) == ipv4
                && report.record != MembershipFrame.LEAVES);
    for (long[] all : new long[][] {solicited, groups}) {
      for (int i = 0; i < all.length; i += 2) {
        if (IpAddress.isIpv4(all[i], all[i + 1]) == ipv4) {
          add(new Report(MembershipFrame.IS_IN, all[i], all[i + 1], 1, now));
        }
      }
    }
    findDue();
  }

  /** The port is at another network, to which it reports all groups. */
  synchronized void moved(long now) {
    pending.clear();
    for (long[] all : new long[][] {solicited, groups}) {
      for (int i = 0; i < all.length; i += 2) {
        add(new Report(MembershipFrame.JOINS, all[i], all[i + 1], ROBUSTNESS, now));
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
    Iterator<Report> reports = pending.iterator();
    while (reports.hasNext()) {
      Report report = reports.next();
      if (report.due <= now) {
        reports.remove();
        if (--report.left > 0) {
          report.due = now + 1 + random.nextLong(INTERVAL);
          pending.add(report);
        }
        findDue();
        return write(memory, at, report);
      }
    }
    return 0;
  }

  private int write(MemorySegment memory, long at, Report report) {
    if (IpAddress.isIpv4(report.high, report.low)) {
      int from = addresses.toward(report.high, report.low);
      int source = IpAddress.ipv4(addresses.high(from), addresses.low(from));
      int group = IpAddress.ipv4(report.high, report.low);
      MembershipFrame.write(memory, at, mac, source, report.record, group);
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
        report.record,
        report.high,
        report.low);
    return ListenerFrame.SIZE;
  }
}
