package org.hghca.wire.link;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.hghca.linux.LinuxErrno;
import org.hghca.linux.SystemCalls;
import org.hghca.log.About;
import org.hghca.log.ConditionLog;
import org.hghca.wire.IpAddress;

/**
 * The multicast groups of a UDP link: one socket each, which identifies the group of a packet. The
 * kernel reports memberships to the network. Thread-safe: the poller reads while the owner joins
 * and leaves, and neither waits for the other, as the owner holds the lock of its simulation.
 */
final class UdpGroups {
  private static final ConditionLog LOG = ConditionLog.of(UdpGroups.class);

  private final SystemCalls linux;
  private final LocalAddress address;
  private final Reader reader;
  private final int mostReads;

  /** Replaced, never modified, so that the poller may read while it changes. */
  private volatile List<Group> groups = List.of();

  /** The group to read first: in turn, as the first may use up the reads. By the reader. */
  private int first;

  /** Reads the received packets of a group from its socket. */
  interface Reader {
    /**
     * Reads as far as there is room.
     *
     * @param most reads that bring something
     * @return how many did
     */
    int read(int socket, long high, long low, ReceiveBatch batch, int most);
  }

  /**
   * The socket of a group. If it is left amid a read, the reader closes it: a descriptor that is
   * closed earlier may be another file by then.
   */
  private final class Group {
    private static final int IDLE = 0;
    private static final int READ = 1;
    private static final int LEFT = 2;

    private final long high;
    private final long low;
    private final int socket;
    private final AtomicInteger state = new AtomicInteger(IDLE);

    Group(long high, long low, int socket) {
      this.high = high;
      this.low = low;
      this.socket = socket;
    }

    int read(ReceiveBatch batch, int most) {
      if (!state.compareAndSet(IDLE, READ)) {
        return 0;
      }
      try {
        return reader.read(socket, high, low, batch, most);
      } finally {
        if (!state.compareAndSet(READ, IDLE)) {
          linux.close(socket);
        }
      }
    }

    void leave() {
      if (state.getAndSet(LEFT) == IDLE) {
        linux.close(socket);
      }
    }
  }

  /**
   * @param mostReads reads of one call of {@link #receive} that bring something, of all groups
   */
  UdpGroups(SystemCalls linux, LocalAddress address, Reader reader, int mostReads) {
    this.linux = linux;
    this.address = address;
    this.reader = reader;
    this.mostReads = mostReads;
  }

  /** Returns false where the group has another address family, or the kernel refuses. */
  synchronized boolean join(long high, long low, LinkWatch watch) {
    if (IpAddress.isIpv4(high, low) != address.isIpv4()) {
      return false;
    }
    String name = "udp:" + address.text();
    int socket = -1;
    try {
      socket = UdpSocket.openGroup(linux, name, address, high, low);
      if (socket < 0) {
        LOG.warn(
            About.NOTHING,
            "{} cannot be bound to a multicast group: {}",
            name,
            LinuxErrno.describe(socket));
        return false;
      }
      watch.add(socket, LinkWatch.READABLE);
    } catch (LinkException e) {
      LOG.warn(About.NOTHING, "{} cannot join a multicast group: {}", name, e.getMessage());
      if (socket >= 0) {
        linux.close(socket);
      }
      return false;
    }
    List<Group> more = new ArrayList<>(groups);
    more.add(new Group(high, low, socket));
    groups = List.copyOf(more);
    return true;
  }

  synchronized void leave(long high, long low) {
    List<Group> others = new ArrayList<>(groups);
    for (Group group : groups) {
      if (group.high == high && group.low == low) {
        others.remove(group);
        groups = List.copyOf(others);
        group.leave();
        return;
      }
    }
  }

  /** Reads from the sockets, as far as there is room. By one thread at a time. */
  void receive(ReceiveBatch batch) {
    List<Group> present = groups;
    int left = mostReads;
    for (int i = 0; i < present.size() && left > 0 && !batch.isFull(); i++) {
      left -= present.get((first + i) % present.size()).read(batch, left);
    }
    first = (first + 1) % Math.max(1, present.size());
  }

  synchronized void close() {
    groups.forEach(Group::leave);
    groups = List.of();
  }
}
