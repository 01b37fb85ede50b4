package org.hghca.wire.link;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.hghca.wire.DropCause;
import org.hghca.wire.Packet;
import org.hghca.wire.PacketOpcode;
import org.hghca.wire.PacketPool;
import org.hghca.wire.PortAddresses;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** ARP and neighbor discovery with Linux as the neighbor, in a network namespace. */
final class KernelNeighborDiscoveryTest {
  private static final long OWN_MAC = 0x0200_0000_0001L;
  private static final String SET_UP =
      "ip link add v0 type veth peer name v1;"
          + " ip link set v0 addrgenmode none up;"
          + " ip link set v1 address 02:00:00:00:00:02 addrgenmode eui64 up;"
          + " ip address add fd00::2/64 dev v1 nodad; ip address add 10.0.0.2/24 dev v1";

  /** Our address, and the kernel's. */
  @ParameterizedTest
  @CsvSource({"fd00::1,fd00::2", "fe80::ff:fe00:1,fe80::ff:fe00:2", "10.0.0.1,10.0.0.2"})
  void portAndKernelFindEachOther(String own, String kernels)
      throws IOException, InterruptedException {
    Namespace.run(SET_UP, KernelNeighborDiscoveryTest.class, own + "," + kernels);
  }

  /** Runs inside of the namespace. */
  public static void main(String[] arguments) throws Exception {
    InetAddress own = InetAddress.ofLiteral(arguments[0].split(",")[0]);
    InetAddress kernels = InetAddress.ofLiteral(arguments[0].split(",")[1]);
    LinkOptions options =
        new LinkOptions(OWN_MAC, PortAddresses.of(List.of(own)), OptionalInt.empty(), 0, false);
    Link link = Links.open("packet:v0", options);
    Counted counted = new Counted(link);
    try (Attachment attachment = LinkPoller.shared().add(link, counted)) {
      assertThat(attachment).isNotNull();
      Packet packet = packetTo(kernels);
      synchronized (counted) {
        link.send(packet);
        link.flush();
      }
      // It leaves once the kernel has answered, else it would be counted as not resolved.
      counted.await(counters -> counters.sent() + counters.notSent().size() > 0);
      assertThat(link.counters().notSent()).isEmpty();
      Namespace.shell("ip neigh flush dev v1");
      try (DatagramChannel channel = DatagramChannel.open()) {
        String scope = own.isLinkLocalAddress() ? "%v1" : "";
        InetAddress scoped = InetAddress.ofLiteral(own.getHostAddress() + scope);
        channel.send(ByteBuffer.allocate(1), new InetSocketAddress(scoped, 4791));
      }
      // The kernel's datagram, which is no packet, comes once we have answered.
      counted.await(counters -> counters.dropped().containsKey(DropCause.TRANSPORT_LENGTH));
      assertThat(Namespace.shell("ip neigh show dev v1 to " + own.getHostAddress()))
          .contains("lladdr 02:00:00:00:00:01");
    }
  }

  private static Packet packetTo(InetAddress address) {
    PortAddresses to = PortAddresses.of(List.of(address));
    Packet packet = new PacketPool().take();
    packet.opcode = PacketOpcode.SEND_ONLY;
    packet.destinationMac = 0;
    packet.destinationIpHigh = to.high(0);
    packet.destinationIpLow = to.low(0);
    return packet;
  }

  /** Lets the test wait for what the link counts, after each round of the poller. */
  private static final class Counted implements LinkUser {
    private final Link link;
    private volatile Predicate<LinkCounters> wanted = counters -> false;
    private volatile CountDownLatch seen = new CountDownLatch(1);

    Counted(Link link) {
      this.link = link;
    }

    @Override
    public synchronized void arrived(ReceiveBatch batch) {
      link.flush();
      if (wanted.test(link.counters())) {
        seen.countDown();
      }
    }

    void await(Predicate<LinkCounters> condition) throws InterruptedException {
      seen = new CountDownLatch(1);
      wanted = condition;
      synchronized (this) {
        if (condition.test(link.counters())) {
          return;
        }
      }
      assertThat(seen.await(10, TimeUnit.SECONDS)).as("of %s", link.counters()).isTrue();
    }
  }
}
