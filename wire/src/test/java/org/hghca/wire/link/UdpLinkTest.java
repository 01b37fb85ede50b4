package org.hghca.wire.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.hghca.linux.Linux;
import org.hghca.linux.LinuxErrno;
import org.hghca.wire.DropCause;
import org.hghca.wire.IpAddress;
import org.hghca.wire.Packet;
import org.hghca.wire.PacketOpcode;
import org.hghca.wire.PacketPool;
import org.hghca.wire.PortAddresses;
import org.hghca.wire.frame.FrameDecoder;
import org.hghca.wire.frame.RestoredHeaders;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** UDP links between addresses of the loopback interface. */
final class UdpLinkTest {
  private static final int LEFT = 0x7f00_0065;
  private static final int RIGHT = 0x7f00_0066;
  private static final int SOURCE_PORT = 0xc123;

  private final List<End> ends = new ArrayList<>();
  private final PacketPool pool = new PacketPool();

  /** An open link, and its received packets. */
  private final class End implements LinkUser {
    private final BlockingQueue<Packet> arrived = new LinkedBlockingQueue<>();
    private final PacketPool empty = new PacketPool();
    private final Link link;
    private final Attachment attachment;

    End(String specification, int sourcePorts) {
      this(Links.open(specification, options(sourcePorts)));
    }

    End(Link link) {
      this.link = link;
      attachment = LinkPoller.shared().add(link, this);
      ends.add(this);
    }

    @Override
    public void arrived(ReceiveBatch batch) {
      for (int i = 0; i < batch.count(); i++) {
        arrived.add(batch.exchange(i, empty.take()));
      }
    }

    void send(Packet packet) {
      link.send(packet);
      link.flush();
    }

    Packet next() throws InterruptedException {
      return arrived.poll(10, TimeUnit.SECONDS);
    }
  }

  private static LinkOptions options(int sourcePorts) {
    return new LinkOptions(0, PortAddresses.NONE, OptionalInt.empty(), sourcePorts, false);
  }

  private End open(String address) {
    return new End("udp:" + address, 4);
  }

  @AfterEach
  void close() {
    ends.forEach(end -> end.attachment.close());
  }

  @ParameterizedTest
  @ValueSource(strings = {"127.0.0.101", "127.0.0.101,127.0.0.102"})
  void plainFramesAreDroppedAndCounted(String addresses) {
    End end = open(addresses);
    Packet frame = pool.take();
    frame.plain = true;
    frame.length = 60;

    end.send(frame);

    assertThat(end.link.counters().sent()).isZero();
    assertThat(end.link.counters().notSent()).isEqualTo(Map.of(SendFailure.NOT_ROCE, 1L));
  }

  private Packet write(int to, int length) {
    Packet packet = pool.take();
    packet.destinationIpv4(to);
    packet.udpSourcePort = SOURCE_PORT;
    packet.opcode = PacketOpcode.WRITE_ONLY_IMM;
    packet.destinationQpn = 0x12_3456;
    packet.psn = 0xab_cdef;
    packet.ackRequest = true;
    packet.remoteAddress = 0x1122_3344_5566_7788L;
    packet.remoteKey = 0x99aa_bbcc;
    packet.dmaLength = length;
    packet.immediate = 0x0102_0304;
    packet.length = length;
    for (int i = 0; i < length; i++) {
      packet.payload().set(ValueLayout.JAVA_BYTE, i, (byte) (i * 7 + 1));
    }
    return packet;
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 3, 256, 4095, 4096})
  void packetArrivesUnchanged(int length) throws InterruptedException {
    End left = open("127.0.0.101");
    End right = open("127.0.0.102");
    left.send(write(RIGHT, length));
    Packet came = right.next();
    assertThat(came.sourceIpv4()).isEqualTo(LEFT);
    assertThat(came.destinationIpv4()).isEqualTo(RIGHT);
    assertThat(came.udpSourcePort).isEqualTo(SOURCE_PORT);
    assertThat(came.opcode).isEqualTo(PacketOpcode.WRITE_ONLY_IMM);
    assertThat(came.destinationQpn).isEqualTo(0x12_3456);
    assertThat(came.psn).isEqualTo(0xab_cdef);
    assertThat(came.ackRequest).isTrue();
    assertThat(came.remoteAddress).isEqualTo(0x1122_3344_5566_7788L);
    assertThat(came.remoteKey).isEqualTo(0x99aa_bbcc);
    assertThat(came.dmaLength).isEqualTo(length);
    assertThat(came.immediate).isEqualTo(0x0102_0304);
    assertThat(came.length).isEqualTo(length);
    for (int i = 0; i < length; i++) {
      assertThat(came.payload().get(ValueLayout.JAVA_BYTE, i)).isEqualTo((byte) (i * 7 + 1));
    }
    assertThat(left.link.counters()).isEqualTo(new LinkCounters(1, 0, Map.of(), Map.of()));
    assertThat(right.link.counters()).isEqualTo(new LinkCounters(0, 1, Map.of(), Map.of()));
  }

  @Test
  void ipv6CarriesPackets() throws InterruptedException {
    End end = open("::1");
    Packet packet = write(RIGHT, 1000);
    packet.destinationIpHigh = 0;
    packet.destinationIpLow = 1;
    packet.trafficClass = 0x48;
    packet.hopLimit = 17;
    end.send(packet);
    Packet came = end.next();
    assertThat(came.sourceIpLow).isOne();
    assertThat(came.trafficClass).isEqualTo(0x48);
    assertThat(came.hopLimit).isEqualTo(17);
    assertThat(came.length).isEqualTo(1000);
  }

  /** IPv4 and IPv6 of one port: by the source, else by what is next to the destination. */
  @Test
  void portHasSeveralAddresses() throws InterruptedException {
    End left = open("127.0.0.101,127.0.0.103,[::1]");
    End right = open("127.0.0.102");
    left.send(write(RIGHT, 1));
    assertThat(right.next().sourceIpv4()).isEqualTo(LEFT + 2); // 101 differs from 102 in two bits
    Packet second = write(RIGHT, 2);
    second.sourceIpv4(LEFT);
    left.send(second);
    assertThat(right.next().sourceIpv4()).isEqualTo(LEFT);
    Packet other = write(RIGHT, 3);
    other.destinationIpLow = 1;
    left.send(other);
    Packet came = left.next();
    assertThat(came.sourceIpLow).isOne();
    assertThat(came.length).isEqualTo(3);
    for (int last : new int[] {101, 103}) {
      right.send(write(0x7f00_0000 + last, last));
      came = left.next();
      assertThat(came.destinationIpv4()).isEqualTo(0x7f00_0000 + last);
      assertThat(came.length).isEqualTo(last);
    }
    assertThat(left.link.counters()).isEqualTo(new LinkCounters(3, 3, Map.of(), Map.of()));
    assertThat(left.link.addresses().count()).isEqualTo(3);
    assertThat(left.link.description())
        .isEqualTo(
            "udp 127.0.0.101, path MTU 4096; udp 127.0.0.103, path MTU 4096; udp [::1], path MTU"
                + " 4096");
  }

  @Test
  void ofSeveralAddressesNoneIsOpenWhenOneIsNotToBeHad() {
    assertThatThrownBy(() -> open("127.0.0.101,198.51.100.1"))
        .isInstanceOf(LinkException.class)
        .hasMessageContaining("udp:198.51.100.1: no interface of this machine has the address");
    assertThat(open("127.0.0.101").link.addresses().count()).isOne();
  }

  @Test
  void packetsToAGroupComeToItsMembers() throws InterruptedException {
    End left = open("127.0.0.101");
    End right = open("127.0.0.102");
    End outside = open("127.0.0.103");
    int group = 0xef01_0207;
    assertThat(right.link.join(0, IpAddress.lowOfIpv4(group))).isTrue();
    left.send(write(group, 100));
    Packet came = right.next();
    assertThat(came.destinationIpv4()).isEqualTo(group);
    assertThat(came.sourceIpv4()).isEqualTo(LEFT);
    assertThat(came.hopLimit).isEqualTo(64);
    assertThat(came.length).isEqualTo(100);
    right.link.leave(0, IpAddress.lowOfIpv4(group));
    left.send(write(group, 200));
    left.send(write(RIGHT, 300));
    assertThat(right.next().length).isEqualTo(300);
    left.send(write(0x7f00_0067, 400));
    assertThat(outside.next().length).isEqualTo(400);
    assertThat(left.link.counters().notSent()).isEmpty();
  }

  /** The loopback interface has no route to groups of IPv6. */
  @Test
  void ipv6GroupIsJoinedOnlyByAnIpv6Link() throws Exception {
    long high = 0xff02L << 48;
    End ipv4 = open("127.0.0.101");
    assertThat(ipv4.link.join(high, 0x4711)).isFalse();
    Optional<Inet6Address> own =
        NetworkInterface.networkInterfaces()
            .flatMap(NetworkInterface::inetAddresses)
            .filter(Inet6Address.class::isInstance)
            .map(Inet6Address.class::cast)
            .filter(address -> !address.isLoopbackAddress() && !address.isLinkLocalAddress())
            .findFirst();
    assumeThat(own).as("no interface has an IPv6 address").isPresent();
    End end = open(own.get().getHostAddress().replaceAll("%.*", ""));
    assertThat(end.link.join(0, IpAddress.lowOfIpv4(0xef01_0207))).isFalse();
    assertThat(end.link.join(high, 0x4711)).isTrue();
    Packet packet = write(RIGHT, 100);
    packet.destinationIpHigh = high;
    packet.destinationIpLow = 0x4711;
    end.send(packet);
    Packet came = end.next();
    assertThat(came.destinationIpHigh).isEqualTo(high);
    assertThat(came.destinationIpLow).isEqualTo(0x4711);
    assertThat(came.length).isEqualTo(100);
  }

  @ParameterizedTest
  @CsvSource({"0, 64, 64", "0, 1, 64", "0xb8, 63, 63", "0x02, 255, 255"})
  void classAndHopLimitAreThoseOfTheAddressVector(String tos, int hops, int seen)
      throws InterruptedException {
    End left = open("127.0.0.101");
    End right = open("127.0.0.102");
    Packet packet = write(RIGHT, 8);
    packet.trafficClass = Integer.decode(tos);
    packet.hopLimit = hops;
    left.send(packet);
    Packet came = right.next();
    assertThat(came.trafficClass).isEqualTo(Integer.decode(tos));
    assertThat(came.hopLimit).isEqualTo(seen);
  }

  @Test
  void manyPacketsAreSentInOrder() throws InterruptedException {
    End left = open("127.0.0.101");
    End right = open("127.0.0.102");
    for (int psn = 0; psn < 300; psn++) {
      Packet packet = write(RIGHT, 16);
      packet.psn = psn;
      left.link.send(packet);
      pool.giveBack(packet);
      if (psn % 100 == 99) {
        left.link.flush();
        for (int i = psn - 99; i <= psn; i++) {
          assertThat(right.next().psn).isEqualTo(i);
        }
      }
    }
    assertThat(left.link.counters().sent()).isEqualTo(300);
  }

  /** The kernel carries datagrams of one length as one, up to a shorter one. */
  @ParameterizedTest
  @ValueSource(strings = {"127.0.0.101", "::1"})
  void packetsOfOneLengthAreOneMessage(String address) throws InterruptedException {
    List<Integer> messages = Collections.synchronizedList(new ArrayList<>());
    FaultyLinux linux = new FaultyLinux();
    linux.answer(
        "sendmmsg",
        arguments -> {
          messages.add((int) arguments[2]);
          return Linux.system()
              .sendmmsg(
                  (int) arguments[0],
                  (MemorySegment) arguments[1],
                  (int) arguments[2],
                  (int) arguments[3]);
        });
    End end = new End(new UdpLink(linux.system(), LocalAddress.parse(address), options(4)));
    int[] lengths = {4096, 4096, 4096, 100, 8, 8, 8, 8, 12, 12};
    for (int i = 0; i < lengths.length; i++) {
      Packet packet = write(LEFT, lengths[i]);
      packet.psn = i;
      if (address.equals("::1")) {
        packet.destinationIpLow = 1;
      }
      end.link.send(packet);
    }
    end.link.flush();
    for (int i = 0; i < lengths.length; i++) {
      Packet came = end.next();
      assertThat(came.psn).isEqualTo(i);
      assertThat(came.length).isEqualTo(lengths[i]);
      assertThat(came.trafficClass).isZero();
      assertThat(came.hopLimit).isEqualTo(64);
      assertThat(came.payload().get(ValueLayout.JAVA_BYTE, lengths[i] - 1))
          .isEqualTo((byte) ((lengths[i] - 1) * 7 + 1));
    }
    assertThat(messages).containsExactly(3); // 4096 4096 4096 100, 8 8 8 8, 12 12
    assertThat(end.link.counters()).isEqualTo(new LinkCounters(10, 10, Map.of(), Map.of()));
  }

  @Test
  void messageHasOneClassAndOneHopLimit() throws InterruptedException {
    End left = open("127.0.0.101");
    End right = open("127.0.0.102");
    int[] classes = {0, 0, 0x48, 0x48, 0x48, 0};
    int[] hops = {64, 64, 17, 17, 18, 18};
    for (int i = 0; i < classes.length; i++) {
      Packet packet = write(RIGHT, 8);
      packet.trafficClass = classes[i];
      packet.hopLimit = hops[i];
      left.link.send(packet);
    }
    left.link.flush();
    for (int i = 0; i < classes.length; i++) {
      Packet came = right.next();
      assertThat(came.trafficClass).isEqualTo(classes[i]);
      assertThat(came.hopLimit).isEqualTo(hops[i]);
    }
  }

  /**
   * A socket that does not join gets each packet by itself. The kernel numbers the packets of a
   * message: their CRCs hold with the identifications 0, 1 and so on.
   */
  @Test
  void everySegmentIsAPacket() throws IOException {
    End left = open("127.0.0.101");
    try (DatagramChannel plain = DatagramChannel.open()) {
      plain.bind(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.102"), 4791));
      for (int i = 0; i < 5; i++) {
        left.link.send(write(RIGHT, i < 4 ? 256 : 16));
      }
      left.link.flush();
      MemorySegment memory = Arena.ofAuto().allocate(4096, 8);
      FrameDecoder decoder = FrameDecoder.ofRestored(memory);
      for (int i = 0; i < 5; i++) {
        ByteBuffer datagram = memory.asSlice(64).asByteBuffer();
        plain.receive(datagram);
        Packet packet = pool.take();
        packet.sourceIpv4(LEFT);
        packet.destinationIpv4(RIGHT);
        packet.udpSourcePort = SOURCE_PORT;
        int length = RestoredHeaders.write(memory, 64, datagram.position(), true, packet);
        assertThat(decoder.decode(RestoredHeaders.frame(64, true), length, packet)).isTrue();
        assertThat(packet.length).isEqualTo(i < 4 ? 256 : 16);
        assertThat(packet.identification).isEqualTo(i);
      }
    }
  }

  @Test
  void kernelThatKnowsNoSegmentsGetsSingleDatagrams() throws InterruptedException {
    FaultyLinux linux = new FaultyLinux();
    linux.answer(
        "setsockopt",
        arguments ->
            (int) arguments[1] == 17 && (int) arguments[2] == 103
                ? -LinuxErrno.EINVAL.number()
                : Linux.system()
                    .setsockopt(
                        (int) arguments[0],
                        (int) arguments[1],
                        (int) arguments[2],
                        (MemorySegment) arguments[3]));
    End left = new End(new UdpLink(linux.system(), LocalAddress.parse("127.0.0.101"), options(4)));
    End right = open("127.0.0.102");
    for (int i = 0; i < 3; i++) {
      left.link.send(write(RIGHT, 8));
    }
    left.link.flush();
    for (int i = 0; i < 3; i++) {
      assertThat(right.next().identification).isZero();
    }
    assertThat(left.link.counters()).isEqualTo(new LinkCounters(3, 0, Map.of(), Map.of()));
  }

  @Test
  void flowsBeyondTheSourcePortsShareThem() throws InterruptedException {
    End left = new End("udp:127.0.0.101", 2);
    End right = open("127.0.0.102");
    int[] seen = new int[4];
    for (int flow = 0; flow < 4; flow++) {
      Packet packet = write(RIGHT, 0);
      packet.udpSourcePort = 0xd000 + flow;
      left.send(packet);
      seen[flow] = right.next().udpSourcePort;
    }
    assertThat(seen).containsExactly(0xd000, 0xd001, 0xd000, 0xd001);
  }

  @Test
  void withoutSourcePortsAllPacketsUseTheLinksOwn() throws InterruptedException {
    End left = new End("udp:127.0.0.101", 0);
    End right = open("127.0.0.102");
    left.send(write(RIGHT, 0));
    assertThat(right.next().udpSourcePort).isEqualTo(4791);
  }

  @Test
  void otherDatagramIsCounted() throws IOException, InterruptedException {
    End right = open("127.0.0.102");
    try (DatagramChannel stranger = DatagramChannel.open()) {
      InetSocketAddress to = new InetSocketAddress(InetAddress.ofLiteral("127.0.0.102"), 4791);
      stranger.send(ByteBuffer.allocate(0), to);
      stranger.send(ByteBuffer.allocate(11), to);
      stranger.send(ByteBuffer.allocate(16), to);
      stranger.send(ByteBuffer.allocate(60_000), to);
    }
    End left = open("127.0.0.101");
    left.send(write(RIGHT, 4));
    assertThat(right.next().length).isEqualTo(4);
    assertThat(right.link.counters())
        .isEqualTo(
            new LinkCounters(
                0, 1, Map.of(), Map.of(DropCause.TRANSPORT_LENGTH, 3L, DropCause.ICRC, 1L)));
  }

  @Test
  void packetOfAnotherAddressFamilyIsNotSent() {
    End left = open("127.0.0.101");
    left.send(write(0, 4));
    Packet other = write(0, 4);
    other.destinationIpLow = 1;
    left.send(other);
    assertThat(left.link.counters())
        .isEqualTo(new LinkCounters(0, 0, Map.of(SendFailure.NO_ADDRESS, 2L), Map.of()));
  }

  @Test
  void packetThatCannotBeSentDoesNotStopTheRest() throws InterruptedException {
    End left = open("127.0.0.101");
    End right = open("127.0.0.102");
    left.link.send(write(0xf000_0001, 4)); // reserved: no route leads there
    left.link.send(write(RIGHT, 5));
    left.link.flush();
    assertThat(right.next().length).isEqualTo(5);
    assertThat(left.link.counters())
        .isEqualTo(new LinkCounters(1, 0, Map.of(SendFailure.REFUSED, 1L), Map.of()));
  }

  @Test
  void addressIsOpenOnceAndFreeAfterwards() {
    End first = open("127.0.0.101");
    assertThatThrownBy(() -> open("127.0.0.101"))
        .isInstanceOfSatisfying(
            LinkException.class, e -> assertThat(e.reason()).isEqualTo(LinkException.Reason.BUSY))
        .hasMessageContaining("udp:127.0.0.101: UDP port 4791 is in use");
    first.attachment.close();
    first.attachment.close();
    assertThat(open("127.0.0.101").link.description()).isEqualTo("udp 127.0.0.101, path MTU 4096");
  }

  @ParameterizedTest
  @ValueSource(strings = {"udp:198.51.100.1", "udp:2001:db8::1"})
  void addressOfAnotherMachineIsRefused(String specification) {
    assertThatThrownBy(() -> Links.open(specification, options(1)))
        .isInstanceOfSatisfying(
            LinkException.class,
            e -> assertThat(e.reason()).isEqualTo(LinkException.Reason.INVALID))
        .hasMessageContaining("no interface of this machine has the address");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "udp:",
        "udp:somewhere",
        "udp:1.2.3.4.5",
        "udp:0.0.0.0",
        "udp:::",
        "udp:127.0.0.101,",
        "udp:127.0.0.101,::",
        "what:ever",
        ""
      })
  void malformedSpecificationIsRefused(String specification) {
    assertThatThrownBy(() -> Links.open(specification, options(1)))
        .isInstanceOfSatisfying(
            LinkException.class,
            e -> assertThat(e.reason()).isEqualTo(LinkException.Reason.INVALID))
        .hasMessageContaining("192.0.2.1");
  }
}
