package org.hghca.programs.perf.command;

import java.util.Arrays;
import java.util.Optional;
import java.util.OptionalInt;
import org.hghca.programs.CNumber;
import org.hghca.programs.OptionCheck;
import org.hghca.programs.perf.Multicast;
import org.hghca.programs.perf.Parameters;
import org.hghca.verbs.Mtu;
import org.hghca.verbs.QpType;
import picocli.CommandLine.Option;

/** How packets of a program of perftest travel. */
final class PerfRouteOptions {
  private static final int MOST_GIDS = 64;
  private static final int MOST_RETRIES = 7;
  private static final int HOPS = 64;

  @Option(
      names = {"-i", "--ib-port"},
      paramLabel = "<port>",
      converter = CNumber.class,
      description = "Port of the device (default: ${DEFAULT-VALUE}).")
  private int port = 1;

  @Option(
      names = {"-x", "--gid-index"},
      paramLabel = "<index>",
      converter = CNumber.class,
      description = "Index of the GID (default: that of an IPv4 address, if there is one).")
  private Integer gidIndex;

  @Option(
      names = {"-m", "--mtu"},
      paramLabel = "<bytes>",
      converter = CNumber.class,
      description = "MTU: 256, 512, 1024, 2048 or 4096 (default: that of the port).")
  private Integer mtu;

  @Option(
      names = {"-u", "--qp-timeout"},
      paramLabel = "<exponent>",
      converter = CNumber.class,
      description = "Time-out of RC, 4 us * 2^exponent (default: ${DEFAULT-VALUE}).")
  private int timeout = 14;

  @Option(
      names = {"-S", "--sl"},
      paramLabel = "<level>",
      converter = CNumber.class,
      description = "Service level, 0 to 15 (default: ${DEFAULT-VALUE}).")
  private int serviceLevel;

  @Option(
      names = {"-L", "--hop_limit"},
      paramLabel = "<hops>",
      converter = CNumber.class,
      description = "Hop limit, 0 to 255 (default: 64).")
  private Integer hopLimit;

  @Option(
      names = "--tclass",
      paramLabel = "<class>",
      converter = CNumber.class,
      description = "Traffic class, 0 to 255 (default: ${DEFAULT-VALUE}).")
  private int trafficClass;

  @Option(
      names = {"-R", "--rdma_cm"},
      description = "The connection manager connects the queue pairs; it includes -z.")
  private boolean connected;

  @Option(
      names = {"-z", "--comm_rdma_cm"},
      description = "The two sides talk over a connection of the connection manager, not over TCP.")
  private boolean talking;

  @Option(
      names = {"-T", "--tos"},
      paramLabel = "<class>",
      converter = CNumber.class,
      description = "Traffic class of connections with -R, 0 to 255.")
  private Integer typeOfService;

  @Option(
      names = "--retry_count",
      paramLabel = "<retries>",
      converter = CNumber.class,
      description = "Retries of connections with -R or -z, 0 to 7 (default: 7).")
  private Integer retryCount;

  Parameters.Route route(OptionCheck check, QpType type, Optional<Multicast> multicast) {
    check.that(multicast.isEmpty() || !connected, "-R is not supported with -g");
    Parameters.Meeting meeting = meeting(check, type);
    check.range("-i", port, 1, 255);
    check.range("-u", timeout, 0, 31);
    check.range("-S", serviceLevel, 0, 15);
    int hops = hopLimit == null ? HOPS : hopLimit;
    check.range("-L", hops, 0, 255);
    check.range("--tclass", trafficClass, 0, 255);
    if (gidIndex != null) {
      check.range("-x", gidIndex, 0, MOST_GIDS);
    }
    return new Parameters.Route(
        meeting,
        port,
        gidIndex(multicast.isPresent()),
        mtu(check),
        timeout,
        retryCount == null ? MOST_RETRIES : retryCount,
        serviceLevel,
        hops,
        typeOfService == null ? trafficClass : typeOfService,
        multicast);
  }

  /** With groups perftest takes the first one. */
  private OptionalInt gidIndex(boolean first) {
    if (gidIndex == null) {
      return first ? OptionalInt.of(0) : OptionalInt.empty();
    }
    return OptionalInt.of(gidIndex);
  }

  private Parameters.Meeting meeting(OptionCheck check, QpType type) {
    check.that(!connected || type != QpType.UC, "UC is not supported in librdmacm: -c UC with -R");
    check.that(typeOfService == null || connected, "-T needs -R");
    check.that(retryCount == null || connected || talking, "--retry_count needs -R or -z");
    if (typeOfService != null) {
      check.range("-T", typeOfService, 0, 255);
    }
    if (retryCount != null) {
      check.range("--retry_count", retryCount, 0, MOST_RETRIES);
    }
    if (connected) {
      // The path is that of the addresses.
      check.that(mtu == null, "-m has no meaning with -R: the MTU is that of the port");
      check.that(hopLimit == null, "-L has no meaning with -R: the hop limit is that of the route");
      check.that(serviceLevel == 0, "-S has no meaning with -R: -T is the traffic class");
      return Parameters.Meeting.CONNECT;
    }
    return talking ? Parameters.Meeting.TALK : Parameters.Meeting.TCP;
  }

  private Optional<Mtu> mtu(OptionCheck check) {
    if (mtu == null) {
      return Optional.empty();
    }
    Optional<Mtu> known = Arrays.stream(Mtu.values()).filter(m -> m.bytes() == mtu).findFirst();
    check.that(
        known.isPresent(),
        "Invalid MTU: %d. Please choose mtu from {256,512,1024,2048,4096}".formatted(mtu));
    return known;
  }
}
