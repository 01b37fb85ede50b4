package org.hghca.wire.link;

import java.util.ArrayList;
import java.util.List;
import org.hghca.linux.LinuxErrno;
import org.hghca.linux.SystemCalls;
import org.hghca.wire.IpAddress;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The multicast groups of a UDP link: one socket each, which identifies the group of a packet. The
 * kernel reports memberships to the network. Thread-safe: the poller reads while the owner joins.
 */
final class UdpGroups {
  private static final Logger LOG = LoggerFactory.getLogger(UdpGroups.class);

  private final SystemCalls linux;
  private final LocalAddress address;
  private final Reader reader;
  private final List<Group> groups = new ArrayList<>();

  private record Group(long high, long low, int socket) {}

  /** Reads the received packets of a group from its socket. */
  interface Reader {
    void read(int socket, long high, long low, ReceiveBatch batch);
  }

  UdpGroups(SystemCalls linux, LocalAddress address, Reader reader) {
    this.linux = linux;
    this.address = address;
    this.reader = reader;
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
        LOG.warn("{}: bind to a multicast group: {}", name, LinuxErrno.describe(socket));
        return false;
      }
      watch.add(socket, LinkWatch.READABLE);
    } catch (LinkException e) {
      LOG.warn("cannot join a multicast group", e);
      if (socket >= 0) {
        linux.close(socket);
      }
      return false;
    }
    groups.add(new Group(high, low, socket));
    return true;
  }

  synchronized void leave(long high, long low) {
    for (Group group : groups) {
      if (group.high == high && group.low == low) {
        linux.close(group.socket);
        groups.remove(group);
        return;
      }
    }
  }

  /** Reads from all sockets; none is closed meanwhile. */
  synchronized void receive(ReceiveBatch batch) {
    for (int i = 0; i < groups.size(); i++) {
      Group group = groups.get(i);
      reader.read(group.socket, group.high, group.low, batch);
    }
  }

  synchronized void close() {
    groups.forEach(group -> linux.close(group.socket));
    groups.clear();
  }
}
