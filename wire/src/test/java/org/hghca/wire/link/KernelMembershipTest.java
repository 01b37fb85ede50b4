package org.hghca.wire.link;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.OptionalInt;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import org.hghca.wire.IpAddress;
import org.hghca.wire.PortAddresses;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Reports of multicast groups to a bridge of Linux that snoops and queries, in a network namespace:
 * its database of groups shows what it has understood.
 */
@Tag("long")
final class KernelMembershipTest {
  private static final long OWN_MAC = 0x0200_0000_0001L;
  private static final long IPV4_GROUP = IpAddress.lowOfIpv4(0xef01_0203);
  private static final long IPV6_GROUP_HIGH = 0xff05L << 48;
  private static final long IPV6_GROUP_LOW = 0x4711;
  private static final String[] GROUPS = {"grp 239.1.2.3 ", "grp ff05::4711 "};
  private static final String SOLICITED = "grp ff02::1:ff00:1 ";

  /**
   * A query each second, with a maximum response time of 0.5 s; groups without reports are gone
   * after 2.5 s: two intervals and a response, as RFC 3376 has it.
   */
  private static final String BRIDGE =
      "ip link add br0 type bridge mcast_snooping 1 mcast_mld_version 2 mcast_igmp_version 3"
          + " mcast_query_response_interval 50 mcast_query_interval 100 mcast_membership_interval"
          + " 250 mcast_last_member_interval 20 mcast_startup_query_interval 50; ip address add"
          + " 10.0.0.9/24 dev br0; ip link set br0 addrgenmode eui64; ip link set br0 up;";

  private static final String VETH =
      " ip link add v0 type veth peer name v1; ip link set v0 addrgenmode none up;"
          + " ip link set v1 addrgenmode none master br0 up";

  @ParameterizedTest
  @ValueSource(strings = {"packet:v0", "tap:t0"})
  void bridgeKnowsTheGroupsOfThePort(String link) throws IOException, InterruptedException {
    Namespace.run(BRIDGE + VETH, KernelMembershipTest.class, link);
  }

  /** Runs inside of the namespace. */
  public static void main(String[] arguments) throws Exception {
    LinkOptions options =
        new LinkOptions(
            OWN_MAC,
            PortAddresses.NONE.with(0, IpAddress.lowOfIpv4(0x0a00_0001)),
            OptionalInt.empty(),
            0,
            false);
    Link link = Links.open(arguments[0], options);
    Object lock = new Object();
    LinkUser user =
        batch -> {
          synchronized (lock) {
            link.flush();
          }
        };
    try (Attachment attachment = LinkPoller.shared().add(link, user)) {
      assertThat(attachment).isNotNull();
      if (arguments[0].startsWith("tap")) {
        Namespace.shell("ip link set t0 master br0 up");
      }
      synchronized (lock) {
        link.flush();
        assertThat(link.join(0, IPV4_GROUP)).isTrue();
        assertThat(link.join(IPV6_GROUP_HIGH, IPV6_GROUP_LOW)).isTrue();
      }
      String[] all = {GROUPS[0], GROUPS[1], SOLICITED};
      await(known -> contains(known, all));
      // From now on the bridge queries, and forgets what is not reported again within 2.5 seconds.
      Namespace.shell("ip link set br0 type bridge mcast_querier 1");
      for (int looks = 0; looks < 12; looks++) {
        LockSupport.parkNanos(500_000_000L); // the time in which it could forget
        assertThat(Namespace.shell("bridge mdb show")).contains(all);
      }
      synchronized (lock) {
        link.leave(0, IPV4_GROUP);
        link.leave(IPV6_GROUP_HIGH, IPV6_GROUP_LOW);
      }
      await(known -> !known.contains(GROUPS[0]) && !known.contains(GROUPS[1]));
      assertThat(Namespace.shell("bridge mdb show")).contains(SOLICITED);
    }
  }

  private static boolean contains(String text, String... parts) {
    for (String part : parts) {
      if (!text.contains(part)) {
        return false;
      }
    }
    return true;
  }

  private static void await(Predicate<String> wanted) throws IOException, InterruptedException {
    Instant end = Instant.now().plus(Duration.ofSeconds(10));
    String known = Namespace.shell("bridge mdb show");
    while (!wanted.test(known)) {
      assertThat(Instant.now()).as(known).isBefore(end);
      known = Namespace.shell("bridge mdb show");
    }
  }
}
