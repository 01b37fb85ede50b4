package org.hghca.programs.perf.session;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.hghca.programs.perf.Parameters;
import org.hghca.programs.perf.Verb;
import org.hghca.programs.perf.medium.Device;
import org.hghca.programs.perf.medium.PeerAddress;
import org.hghca.programs.perf.result.Columns;
import org.hghca.programs.perf.run.Resources;
import org.hghca.verbs.Gid;
import org.hghca.verbs.Mtu;

/** What perftest prints before the results. */
public final class Header {
  private Header() {}

  /** The lines about the test. */
  static List<String> of(Parameters parameters, Resources resources, boolean client, Mtu mtu) {
    Parameters.Queues queues = parameters.queues();
    Device device = resources.device();
    List<String> lines = new ArrayList<>();
    lines.add(Columns.LINE);
    lines.add("                    " + parameters.title());
    if (queues.events()) {
      lines.add(" Test with events. Using %s_comp0".formatted(device.name()));
    }
    if (parameters.route().multicast().isPresent()) {
      lines.add(" MultiCast runs on UD!");
    }
    lines.add(" Dual-port       : OFF\t\tDevice         : " + device.name());
    lines.add(" Number of qps   : %d\t\tTransport type : IB".formatted(queues.pairs()));
    lines.add(" Connection type : %s\t\tUsing SRQ      : OFF".formatted(parameters.type()));
    lines.add(" PCIe relax order: OFF\t\tLock-free      : ON");
    lines.add(" ibv_wr* API     : OFF\t\tUsing Enhanced Reorder      : OFF");
    Setting.of(parameters, resources, client, mtu).forEach(each -> lines.add(each.line()));
    Parameters.Meeting meeting = parameters.route().meeting();
    lines.add(" rdma_cm QPs\t : " + connects(meeting));
    lines.add(" Data ex. method : " + talks(meeting) + tos(parameters.route()));
    lines.add(Columns.LINE);
    return lines;
  }

  /** Whether the connection manager connects the queue pairs. */
  static String connects(Parameters.Meeting meeting) {
    return meeting.connects() ? "ON" : "OFF";
  }

  /** What carries the messages between the two sides. */
  static String talks(Parameters.Meeting meeting) {
    return meeting.talks() ? "rdma_cm" : "Ethernet";
  }

  private static String tos(Parameters.Route route) {
    boolean shown = route.meeting().connects() && route.trafficClass() != 0;
    return shown ? " \tTOS    : %d".formatted(route.trafficClass()) : "";
  }

  /**
   * The lines about a queue pair.
   *
   * @param remote whether it is the peer's
   */
  static List<String> of(
      boolean remote, PeerAddress address, Parameters parameters, boolean client) {
    Verb verb = parameters.test().verb();
    StringBuilder line =
        new StringBuilder(
            " %s address: LID %s QPN %s PSN %s"
                .formatted(
                    remote ? "remote" : "local",
                    hex(address.lid(), 4),
                    hex(address.qpNumber(), 6),
                    hex(address.psn(), 6)));
    if (verb == Verb.READ) {
      line.append(" OUT ").append(hex(address.outstandingReads(), 4));
    }
    if (verb == Verb.READ || verb == Verb.WRITE) {
      line.append(" RKey ").append(hex(address.rkey() & 0xffff_ffffL, 8));
      line.append(" VAddr ").append(hex(address.address(), 16));
    }
    List<String> lines = new ArrayList<>();
    lines.add(line.toString());
    Optional<Gid> gid = address.gid();
    // As perftest does, which has groups of the client in latency tests, too.
    boolean group = parameters.route().multicast().isPresent() && remote == client;
    gid.ifPresent(g -> lines.add((group ? " MGID: " : " GID: ") + decimal(g)));
    return lines;
  }

  /** As {@code %#0wx} of C: with {@code 0x}, which zero lacks. */
  private static String hex(long value, int width) {
    String digits = Long.toHexString(value);
    String prefix = value == 0 ? "" : "0x";
    return prefix + "0".repeat(Math.max(0, width - prefix.length() - digits.length())) + digits;
  }

  private static String decimal(Gid gid) {
    List<String> bytes = new ArrayList<>();
    for (byte b : PeerAddress.bytes(gid)) {
      bytes.add("%02d".formatted(b & 0xff));
    }
    return String.join(":", bytes);
  }
}
