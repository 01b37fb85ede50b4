package org.hghca.wire.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.hghca.linux.Linux;
import org.hghca.wire.DropCause;
import org.hghca.wire.IpAddress;
import org.hghca.wire.Packet;
import org.hghca.wire.PacketOpcode;
import org.hghca.wire.PacketPool;
import org.hghca.wire.PortAddresses;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Packet sockets and TAP devices with the kernel's own stack as the peer, in a network namespace:
 * its ARP and its UDP are independent implementations.
 */
final class FrameLinkTest {
  /** Two interfaces with a cable between them, at which the kernel says nothing by itself. */
  private static final String VETH =
      "ip link add v0 type veth peer name v1; ip link set v0 addrgenmode none up;"
          + " ip link set v1 addrgenmode none up; ip link set lo up";

  private static final long OWN_MAC = 0x0200_0000_0001L;
  private static final int OWN = 0x0a00_0001;
  private static final int PEER = 0x0a00_0002;

  enum Scenario {
    TWO_PACKET_SOCKETS(VETH),
    LOOPBACK("ip link set lo up"),
    LARGE_FRAMES(VETH + "; ip link set v0 mtu 9000; ip link set v1 mtu 9000"),
    THE_KERNEL_BEHIND_A_PACKET_SOCKET(VETH + "; ip address add 10.0.0.2/24 dev v1"),
    GROUPS(VETH + "; ip address add 10.0.0.2/24 dev v1"),
    ONLY_WHAT_IS_FOR_THE_PORT_COMES(VETH + "; ip address add 10.0.0.2/24 dev v1"),
    A_SHARED_INTERFACE_IS_SILENT(VETH + "; ip address add 10.0.0.2/24 dev v1"),
    DOWN_AND_UP(VETH),
    AN_INTERFACE_THAT_VANISHES(VETH),
    TAP("true"),
    NOTHING_IS_ALLOCATED_FOR_A_PACKET("true"),
    A_TAP_DEVICE_THAT_VANISHES("true"),
    A_TAP_DEVICE_THAT_STAYS("ip tuntap add dev t0 mode tap; ip link set t0 up"),
    WHAT_IS_REFUSED(VETH + "; ip tuntap add dev u0 mode tun; ip tuntap add dev t0 mode tap");

    private final String setUp;

    Scenario(String setUp) {
      this.setUp = setUp;
    }
  }

  @ParameterizedTest
  @EnumSource
  void inANamespace(Scenario scenario) throws IOException, InterruptedException {
    Namespace.run(scenario.setUp, FrameLinkTest.class, scenario.name());
  }

  @Test
  void withoutTheRightItIsRefusedWithTheFix() {
    FaultyLinux linux = new FaultyLinux();
    linux.answer(
        "socket",
        arguments ->
            (int) arguments[0] == 17
                ? -1
                : Linux.system()
                    .socket((int) arguments[0], (int) arguments[1], (int) arguments[2]));
    long before = linux.count("close");
    assertThatThrownBy(() -> new PacketSocket(linux.system(), "lo", options(OWN_MAC, OWN)))
        .isInstanceOfSatisfying(
            LinkException.class,
            e -> assertThat(e.reason()).isEqualTo(LinkException.Reason.NO_PERMISSION))
        .hasMessageContaining("packet:lo: this needs CAP_NET_RAW: run as root");
    assertThat(linux.count("close")).isEqualTo(before + 1);
  }

  /** Runs a scenario inside of a namespace. */
  public static void main(String[] arguments) throws Exception {
    switch (Scenario.valueOf(arguments[0])) {
      case TWO_PACKET_SOCKETS -> exchange("packet:v0", "packet:v1", 1024);
      case LOOPBACK -> exchange("packet:lo", "packet:lo", 4096);
      case LARGE_FRAMES -> exchange("packet:v0", "packet:v1", 4096);
      case THE_KERNEL_BEHIND_A_PACKET_SOCKET -> kernel("packet:v0");
      case GROUPS -> groups();
      case ONLY_WHAT_IS_FOR_THE_PORT_COMES -> filtered();
      case A_SHARED_INTERFACE_IS_SILENT -> shared();
      case DOWN_AND_UP -> downAndUp();
      case AN_INTERFACE_THAT_VANISHES -> vanishes("packet:v0", "v0");
      case TAP -> tap();
      case NOTHING_IS_ALLOCATED_FOR_A_PACKET -> allocation();
      case A_TAP_DEVICE_THAT_VANISHES -> vanishesWithPoller();
      case A_TAP_DEVICE_THAT_STAYS -> stays();
      case WHAT_IS_REFUSED -> refused();
    }
  }

  private static PortAddresses addresses(int ip) {
    return PortAddresses.NONE.with(0, IpAddress.lowOfIpv4(ip));
  }

  private static LinkOptions options(long mac, int ip) {
    return new LinkOptions(mac, addresses(ip), OptionalInt.empty(), 1, false);
  }

  /** A link that is read, and what came out of it. */
  private static final class End implements LinkUser, AutoCloseable {
    private final BlockingQueue<Packet> arrived = new LinkedBlockingQueue<>();
    private final BlockingQueue<Boolean> states = new LinkedBlockingQueue<>();
    private final Link link;
    private final Attachment attachment;
    private boolean up;

    End(String specification, LinkOptions options) {
      link = Links.open(specification, options);
      up = link.isUp();
      attachment = LinkPoller.shared().add(link, this);
    }

    @Override
    public synchronized void arrived(ReceiveBatch batch) {
      for (int i = 0; i < batch.count(); i++) {
        arrived.add(batch.exchange(i, new PacketPool().take()));
      }
      link.flush();
      if (up != link.isUp()) {
        up = !up;
        states.add(up);
      }
    }

    synchronized void send(Packet packet) {
      link.send(packet);
      link.flush();
    }

    void awaitState(boolean wanted) throws InterruptedException {
      Boolean state = link.isUp() == wanted && states.isEmpty() ? wanted : null;
      while (state == null || state != wanted) {
        state = states.poll(10, TimeUnit.SECONDS);
        assertThat(state).as("the state of " + link.description()).isNotNull();
      }
    }

    Packet next() throws InterruptedException {
      Packet packet = arrived.poll(10, TimeUnit.SECONDS);
      assertThat(packet).as("a packet, of " + link.counters()).isNotNull();
      return packet;
    }

    @Override
    public void close() {
      attachment.close();
    }
  }

  private static Packet write(int to, int length) {
    Packet packet = new PacketPool().take();
    packet.destinationIpv4(to);
    packet.udpSourcePort = 0xc123;
    packet.opcode = PacketOpcode.WRITE_ONLY_IMM;
    packet.destinationQpn = 0x12_3456;
    packet.psn = length;
    packet.length = length;
    packet.dmaLength = length;
    for (int i = 0; i < length; i++) {
      packet.payload().set(ValueLayout.JAVA_BYTE, i, (byte) (i * 7 + 1));
    }
    return packet;
  }

  private static void assertArrives(End from, int fromIp, End to, int toIp, int length)
      throws InterruptedException {
    from.send(write(toIp, length));
    Packet came = to.next();
    assertThat(came.sourceIpv4()).isEqualTo(fromIp);
    assertThat(came.destinationIpv4()).isEqualTo(toIp);
    assertThat(came.length).isEqualTo(length);
    assertThat(came.psn).isEqualTo(length);
    for (int i = 0; i < length; i++) {
      assertThat(came.payload().get(ValueLayout.JAVA_BYTE, i)).isEqualTo((byte) (i * 7 + 1));
    }
  }

  private static void exchange(String left, String right, int pathMtu) throws Exception {
    try (End a = new End(left, options(OWN_MAC, OWN));
        End b = new End(right, options(OWN_MAC + 1, PEER))) {
      assertThat(a.link.pathMtu()).isEqualTo(pathMtu);
      assertThat(a.link.isUp()).isTrue();
      for (int length : new int[] {0, 1, 255, pathMtu}) {
        assertArrives(a, OWN, b, PEER, length);
        assertArrives(b, PEER, a, OWN, length);
      }
      for (int round = 0; round < 100; round++) { // more than the ring's slots
        synchronized (a) { // the poller flushes, too
          for (int psn = 0; psn < 50; psn++) {
            Packet packet = write(PEER, 16);
            packet.psn = psn;
            a.link.send(packet);
          }
          a.link.flush();
        }
        for (int psn = 0; psn < 50; psn++) {
          assertThat(b.next().psn).isEqualTo(psn);
        }
      }
      assertThat(a.link.counters()).isEqualTo(new LinkCounters(5004, 4, Map.of(), Map.of()));
      assertThat(b.link.counters()).isEqualTo(new LinkCounters(4, 5004, Map.of(), Map.of()));
    }
  }

  /** A group with a member at each end, of which one is the kernel's. */
  private static void groups() throws Exception {
    int group = 0xef01_0203;
    long low = IpAddress.lowOfIpv4(group);
    try (End own = new End("packet:v0", options(OWN_MAC, OWN));
        End kernel = new End("udp:10.0.0.2", options(0, PEER))) {
      assertThat(kernel.link.join(0, low)).isTrue();
      assertThat(own.link.join(0, low)).isTrue();
      assertThat(own.link.join(0xff05L << 48, 5)).isTrue();
      assertThat(Namespace.shell("ip maddr show dev v0"))
          .contains("01:00:5e:01:02:03", "33:33:00:00:00:05")
          .as("where its own address is solicited")
          .contains("33:33:ff:00:00:01");
      assertArrives(own, OWN, kernel, group, 100);
      assertArrives(kernel, PEER, own, group, 200);
      own.link.leave(0, low);
      own.link.leave(0xff05L << 48, 5);
      assertThat(Namespace.shell("ip maddr show dev v0"))
          .doesNotContain("01:00:5e:01:02:03")
          .doesNotContain("33:33:00:00:00:05");
      kernel.send(write(group, 300));
      assertArrives(kernel, PEER, own, OWN, 400);
    }
  }

  /** The kernel has 10.0.0.2 at the other end, where a link over its UDP listens. */
  private static void kernel(String specification) throws Exception {
    try (End own = new End(specification, options(OWN_MAC, OWN));
        End kernel = new End("udp:10.0.0.2", options(0, PEER))) {
      assertArrives(kernel, PEER, own, OWN, 100);
      assertThat(Namespace.shell("ip neigh show 10.0.0.1"))
          .contains("02:00:00:00:00:01")
          .doesNotContain("FAILED");
      assertArrives(own, OWN, kernel, PEER, 1024);
      for (int length = 0; length < 64; length++) {
        assertArrives(own, OWN, kernel, PEER, length);
        assertArrives(kernel, PEER, own, OWN, length);
      }
      assertThat(own.link.counters().dropped()).isEmpty();
      assertThat(kernel.link.counters().dropped()).isEmpty();
    }
  }

  private static void filtered() throws Exception {
    try (End own = new End("packet:v0", options(OWN_MAC, OWN))) {
      sendWhatIsForOthers();
      try (End kernel = new End("udp:10.0.0.2", options(0, PEER))) {
        assertArrives(kernel, PEER, own, OWN, 100);
      }
      assertThat(own.link.counters())
          .isEqualTo(new LinkCounters(0, 1, Map.of(), Map.of(DropCause.ICRC, 2L)));
    }
  }

  private static void sendWhatIsForOthers() throws IOException {
    try (DatagramChannel other = DatagramChannel.open()) {
      other.bind(new InetSocketAddress("10.0.0.2", 0));
      other.setOption(StandardSocketOptions.SO_BROADCAST, true);
      InetAddress us = InetAddress.ofLiteral("10.0.0.1");
      InetAddress all = InetAddress.ofLiteral("10.0.0.255");
      for (int port : new int[] {4790, 4792, 7}) {
        other.send(ByteBuffer.allocate(60), new InetSocketAddress(us, port));
        other.send(ByteBuffer.allocate(60), new InetSocketAddress(all, port));
      }
      // What the filter lets through, and the decoder does not: an ICRC of zeros, twice.
      other.send(ByteBuffer.allocate(16), new InetSocketAddress(us, 4791));
      other.send(ByteBuffer.allocate(16), new InetSocketAddress(all, 4791));
    }
  }

  /** The number of port unreachable messages of the kernel. */
  private static long unreachables() throws IOException {
    List<String> lines =
        Files.readAllLines(Path.of("/proc/net/snmp")).stream()
            .filter(line -> line.startsWith("Icmp:"))
            .toList();
    int column = Arrays.asList(lines.get(0).split(" ")).indexOf("OutDestUnreachs");
    return Long.parseLong(lines.get(1).split(" ")[column]);
  }

  private static void shared() throws Exception {
    String mac = HexFormat.of().formatHex(NetworkInterface.getByName("v1").getHardwareAddress());
    LinkOptions options =
        new LinkOptions(Long.parseLong(mac, 16), addresses(PEER), OptionalInt.empty(), 0, true);
    try (End far = new End("packet:v0", options(OWN_MAC, OWN))) {
      try (End own = new End("packet:v1", options)) {
        for (int length = 0; length < 10; length++) {
          assertArrives(far, OWN, own, PEER, length);
          assertArrives(own, PEER, far, OWN, length);
        }
        assertThat(unreachables()).isZero();
      }
      LinkOptions other = new LinkOptions(OWN_MAC, addresses(PEER), OptionalInt.empty(), 0, true);
      assertRefused(
          "packet:v1", other, "packet:v1: with share=true the port has the interface's MAC");
      LinkOptions foreign =
          new LinkOptions(options.mac(), addresses(OWN), OptionalInt.empty(), 0, true);
      assertRefused("packet:v1", foreign, "has an IP address of this machine: leave out ip=");
      try (End _ = new End("udp:10.0.0.2", options(0, PEER))) {
        assertRefused("packet:v1", options, "packet:v1: UDP port 4791 is in use");
      }
      // What it is good for: without it the kernel answers.
      far.send(write(PEER, 1));
      long deadline = System.nanoTime() + 10_000_000_000L;
      while (unreachables() == 0) {
        assertThat(System.nanoTime()).isLessThan(deadline);
        Thread.onSpinWait();
      }
    }
  }

  private static void downAndUp() throws Exception {
    try (End a = new End("packet:v0", options(OWN_MAC, OWN));
        End b = new End("packet:v1", options(OWN_MAC + 1, PEER))) {
      assertArrives(a, OWN, b, PEER, 1);
      Namespace.shell("ip link set v0 down");
      a.awaitState(false);
      b.awaitState(false); // it has no carrier
      a.send(write(PEER, 2));
      assertThat(a.link.counters().notSent()).isEqualTo(Map.of(SendFailure.DOWN, 1L));
      Namespace.shell("ip link set v0 up");
      a.awaitState(true);
      b.awaitState(true);
      assertArrives(a, OWN, b, PEER, 3);
      assertArrives(b, PEER, a, OWN, 4);
    }
  }

  private static void vanishes(String specification, String device) throws Exception {
    try (End own = new End(specification, options(OWN_MAC, OWN))) {
      own.awaitState(true);
      Namespace.shell("ip link delete " + device);
      own.awaitState(false);
      own.send(write(PEER, 2));
      assertThat(own.link.counters().notSent()).isEqualTo(Map.of(SendFailure.DOWN, 1L));
      assertPollerSleeps();
    }
  }

  private static void vanishesWithPoller() throws Exception {
    try (End own = new End("tap:t0", options(OWN_MAC, OWN))) {
      Namespace.shell("ip link set t0 up");
      own.awaitState(true);
      Namespace.shell("ip link delete t0");
      own.awaitState(false);
      // Each change of some interface makes the poller read the device again.
      Namespace.shell("ip link add v0 type veth peer name v1; ip link set v0 up");
      assertPollerSleeps();
    }
  }

  /** In a second the poller's thread needs less than a tenth of a core. */
  private static void assertPollerSleeps() throws Exception {
    Thread poller =
        Thread.getAllStackTraces().keySet().stream()
            .filter(thread -> thread.getName().equals("hghca-links"))
            .findFirst()
            .orElseThrow();
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    long before = threads.getThreadCpuTime(poller.threadId());
    LockSupport.parkNanos(1_000_000_000L); // the time in which it could work
    assertThat(threads.getThreadCpuTime(poller.threadId()) - before).isLessThan(100_000_000L);
  }

  private static void tap() throws Exception {
    try (End own = new End("tap:t0", options(OWN_MAC, OWN))) {
      assertThat(own.link.isUp()).isFalse();
      assertThat(own.link.pathMtu()).isEqualTo(1024);
      Namespace.shell("ip address add 10.0.0.2/24 dev t0; ip link set t0 up");
      own.awaitState(true);
      try (End kernel = new End("udp:10.0.0.2", options(0, PEER))) {
        assertArrives(kernel, PEER, own, OWN, 100);
        assertThat(Namespace.shell("ip neigh show 10.0.0.1")).contains("02:00:00:00:00:01");
        for (int length = 0; length < 64; length++) {
          assertArrives(own, OWN, kernel, PEER, length);
          assertArrives(kernel, PEER, own, OWN, length);
        }
        assertThat(own.link.counters().sent()).isEqualTo(64);
      }
      assertRefused("tap:t0", options(OWN_MAC, OWN), "tap:t0: another process, or another link");
    }
    assertThat(Namespace.shell("ip -o link")).doesNotContain("t0");
  }

  /** Of what a thread allocates while it sends, also before anything is compiled. */
  private static void allocation() throws Exception {
    com.sun.management.ThreadMXBean threads =
        (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
    try (End own = new End("tap:t0", options(OWN_MAC, OWN))) {
      Namespace.shell("ip address add 10.0.0.2/24 dev t0; ip link set t0 up");
      own.awaitState(true);
      try (End kernel = new End("udp:10.0.0.2", options(0, PEER))) {
        assertArrives(own, OWN, kernel, PEER, 100);
        Packet packet = write(PEER, 100);
        long before = 0;
        for (int i = 0; i < 11_000; i++) {
          if (i == 1_000) {
            before = threads.getCurrentThreadAllocatedBytes();
          }
          own.send(packet);
        }
        assertThat(threads.getCurrentThreadAllocatedBytes() - before)
            .as("bytes for 10,000 packets")
            .isLessThan(10_000);
      }
    }
  }

  private static void stays() throws Exception {
    try (End own = new End("tap:t0", options(OWN_MAC, OWN))) {
      own.awaitState(true);
    }
    assertThat(Namespace.shell("ip -o link")).contains("t0");
  }

  private static void refused() {
    LinkOptions options = options(OWN_MAC, OWN);
    Links.open("packet:v0", options).close(); // what classes have open is open from now on
    assertRefused("packet:none", options, "packet:none: there is no interface of that name");
    assertRefused("packet:", options, "there is no interface of that name");
    assertRefused("packet:a-name-that-is-too-long", options, "no interface of that name");
    assertRefused("packet:u0", options, "packet:u0: the interface carries no Ethernet frames");
    assertRefused("tap:u0", options, "tap:u0: the interface of that name is no TAP device");
    assertRefused("tap:v0", options, "is no TAP device");
    assertRefused("tap:", options, "give the name of an interface");
    assertRefused("tap:a-name-that-is-too-long", options, "of 1 to 15 bytes");
    assertRefused("tap:%d", options, "give the name of an interface");
  }

  private static void assertRefused(String specification, LinkOptions options, String message) {
    int before = descriptors();
    assertThatThrownBy(() -> Links.open(specification, options))
        .isInstanceOf(LinkException.class)
        .hasMessageContaining(message);
    assertThat(descriptors()).isEqualTo(before);
  }

  private static int descriptors() {
    String[] open = new java.io.File("/proc/self/fd").list();
    return open.length;
  }
}
