package org.hghca.wire.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.hghca.wire.DropCause;
import org.hghca.wire.Packet;
import org.hghca.wire.PacketOpcode;
import org.hghca.wire.PacketPool;
import org.hghca.wire.PortAddresses;
import org.hghca.wire.frame.Encapsulation;
import org.hghca.wire.frame.FrameDecoder;
import org.hghca.wire.frame.FrameEncoder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Frames in a stream of bytes, between a link and a test that acts as QEMU does. */
final class StreamLinkTest extends StreamEnds {
  private static final String QUESTION =
      "ffffffffffff0200000000010806000108000604"
          + "0001020000000001"
          + "0a000001"
          + "0000000000000a000002"
          + "00".repeat(18);
  private static final String ANSWER =
      "0200000000015254001234560806000108000604"
          + "0002525400123456"
          + "0a000002"
          + "0200000000010a000001";

  private final BlockingQueue<Packet> arrived = new LinkedBlockingQueue<>();
  private final BlockingQueue<Boolean> states = new LinkedBlockingQueue<>();
  private final CountDownLatch notSent = new CountDownLatch(1);
  private final PacketPool pool = new PacketPool();
  private Link link;
  private boolean up;
  private DataInputStream in;
  private DataOutputStream out;

  private void attach(String specification) {
    attach(specification, new LinkOptions(OWN_MAC, ADDRESSES, OptionalInt.of(4200), 0, false));
  }

  private void attach(String specification, LinkOptions options) {
    link = Links.open(specification, options);
    up = link.isUp();
    open.add(0, LinkPoller.shared().add(link, this::arrive));
  }

  private void arrive(ReceiveBatch batch) {
    for (int i = 0; i < batch.count(); i++) {
      arrived.add(batch.exchange(i, new PacketPool().take()));
    }
    link.flush();
    if (!link.counters().notSent().isEmpty()) {
      notSent.countDown();
    }
    if (up != link.isUp()) {
      up = !up;
      states.add(up);
    }
  }

  private SocketChannel talk(SocketChannel channel) {
    in = new DataInputStream(Channels.newInputStream(channel));
    out = new DataOutputStream(Channels.newOutputStream(channel));
    open.add(channel);
    return channel;
  }

  /** The next frame that is no report about a multicast group. */
  private String readFrame() throws IOException {
    String hex;
    do {
      byte[] frame = new byte[in.readInt()];
      in.readFully(frame);
      hex = HexFormat.of().formatHex(frame);
    } while (hex.startsWith("333300000016"));
    return hex;
  }

  private void writeFrame(String hex) throws IOException {
    out.writeInt(hex.length() / 2);
    out.write(HexFormat.of().parseHex(hex));
    out.flush();
  }

  private Packet packet(int to, int length) {
    Packet packet = pool.take();
    packet.opcode = PacketOpcode.SEND_ONLY;
    packet.destinationIpv4(to);
    packet.destinationMac = 0;
    packet.destinationQpn = 0x11;
    packet.psn = length;
    packet.length = length;
    packet.payload().asSlice(0, length).fill((byte) 0x5a);
    return packet;
  }

  private void send(Packet packet) {
    link.send(packet);
    link.flush();
  }

  /** A frame from the peer to us. */
  private static String frame(int length, int to, long toMac) {
    Packet packet = new PacketPool().take();
    packet.opcode = PacketOpcode.SEND_ONLY;
    packet.sourceMac = PEER_MAC;
    packet.destinationMac = toMac;
    packet.sourceIpv4(PEER);
    packet.destinationIpv4(to);
    packet.identification = 0x4711;
    packet.length = length;
    MemorySegment memory = MemorySegment.ofArray(new byte[8192]);
    int bytes = new FrameEncoder(memory).encode(packet, 0);
    return HexFormat.of().formatHex(memory.asSlice(0, bytes).toArray(ValueLayout.JAVA_BYTE));
  }

  private void assertDecodes(String hex, int length) {
    byte[] bytes = HexFormat.of().parseHex(hex);
    Packet packet = pool.take();
    assertThat(new FrameDecoder(MemorySegment.ofArray(bytes)).decode(0, bytes.length, packet))
        .isTrue();
    assertThat(packet.length).isEqualTo(length);
    assertThat(packet.destinationMac).isEqualTo(PEER_MAC);
    assertThat(packet.sourceMac).isEqualTo(OWN_MAC);
    assertThat(packet.sourceIpv4()).isEqualTo(OWN);
    assertThat(packet.destinationIpv4()).isEqualTo(PEER);
  }

  @Test
  void firstPacketsWaitForTheReply() throws IOException {
    ServerSocketChannel server = listen();
    attach("stream:" + path());
    talk(server.accept());
    send(packet(PEER, 4096));
    send(packet(PEER, 1));
    assertThat(readFrame()).isEqualTo(QUESTION);
    writeFrame(ANSWER);
    assertDecodes(readFrame(), 4096);
    assertDecodes(readFrame(), 1);
    send(packet(PEER, 2));
    assertDecodes(readFrame(), 2);
    assertThat(link.counters().sent()).isEqualTo(3);
    assertThat(link.description()).isEqualTo("stream " + path() + ", path MTU 4096");
  }

  @Test
  void theLinkOfANicCarriesEveryFrameAsItIs() throws Exception {
    ServerSocketChannel server = listen();
    attach(
        "stream:" + path(),
        new LinkOptions(
            OWN_MAC,
            PortAddresses.NONE,
            OptionalInt.empty(),
            0,
            Encapsulation.ETHERNET,
            false,
            LinkOptions.DEFAULT_RING));
    talk(server.accept());
    String roce = frame(100, PEER, 0x0200_0000_0099L);
    for (String frame : List.of(QUESTION, ANSWER, roce, "0180c2000000" + "00".repeat(200))) {
      writeFrame(frame);
      Packet packet = arrived.poll(10, TimeUnit.SECONDS);
      assertThat(packet.plain).isEqualTo(!frame.equals(roce));
      send(packet);
      assertThat(readFrame()).isEqualTo(frame);
    }
    assertThat(link.counters().sent()).isEqualTo(4);
    assertThat(link.counters().received()).isEqualTo(4);
    assertThat(link.counters().dropped()).isEmpty();
  }

  /** By the poller, which has answered a request before and sleeps without a deadline. */
  @Test
  void requestIsRepeatedAndGivenUp() throws IOException, InterruptedException {
    ServerSocketChannel server = listen();
    attach("stream:" + path());
    talk(server.accept());
    writeFrame(
        "ffffffffffff5254001234570806000108000604"
            + "0001525400123457"
            + "0a000003"
            + "0000000000000a000001");
    assertThat(readFrame()).startsWith("525400123457");
    send(packet(PEER, 1));
    for (int i = 0; i < 3; i++) {
      assertThat(readFrame()).isEqualTo(QUESTION);
    }
    assertThat(notSent.await(10, TimeUnit.SECONDS)).isTrue();
    assertThat(link.counters().notSent()).isEqualTo(Map.of(SendFailure.UNRESOLVED, 1L));
  }

  @Test
  void requestForOurAddressIsAnswered() throws IOException {
    ServerSocketChannel server = listen();
    attach("stream:" + path());
    talk(server.accept());
    writeFrame(
        "ffffffffffff5254001234560806000108000604"
            + "0001525400123456"
            + "0a000002"
            + "0000000000000a000001");
    assertThat(readFrame())
        .isEqualTo(
            "5254001234560200000000010806000108000604"
                + "0002020000000001"
                + "0a000001"
                + "5254001234560a000002"
                + "00".repeat(18));
    send(packet(PEER, 3));
    assertDecodes(readFrame(), 3);
  }

  @Test
  void framesArriveInPartsOfAnySize() throws IOException, InterruptedException {
    ServerSocketChannel server = listen();
    attach("stream:" + path());
    talk(server.accept());
    int[] lengths = {0, 1, 4096, 17, 4095};
    for (int round = 0; round < 40; round++) {
      for (int length : lengths) {
        byte[] frame = HexFormat.of().parseHex(frame(length, OWN, OWN_MAC));
        out.writeInt(frame.length);
        int cut = round * frame.length / 40;
        out.write(frame, 0, cut);
        out.flush();
        out.write(frame, cut, frame.length - cut);
      }
    }
    for (int i = 0; i < 40 * lengths.length; i++) {
      Packet came = arrived.poll(10, TimeUnit.SECONDS);
      assertThat(came.length).isEqualTo(lengths[i % lengths.length]);
      assertThat(came.sourceMac).isEqualTo(PEER_MAC);
    }
  }

  @Test
  void framesForOthersAreCounted() throws IOException, InterruptedException {
    ServerSocketChannel server = listen();
    attach("stream:" + path());
    talk(server.accept());
    writeFrame("");
    writeFrame("00");
    writeFrame(frame(8, PEER, OWN_MAC));
    writeFrame(frame(8, OWN, PEER_MAC));
    writeFrame("333300000001" + "525400123456" + "88cc" + "00".repeat(100));
    writeFrame(frame(9, OWN, OWN_MAC));
    assertThat(arrived.poll(10, TimeUnit.SECONDS).length).isEqualTo(9);
    assertThat(link.counters())
        .isEqualTo(
            new LinkCounters(
                0,
                1,
                Map.of(),
                Map.of(DropCause.TRUNCATED, 2L, DropCause.ADDRESS, 2L, DropCause.ETHER_TYPE, 1L)));
  }

  @ParameterizedTest
  @ValueSource(ints = {69_633, -1, Integer.MAX_VALUE})
  void frameThatIsTooLongEndsTheConnectionAndANewOneFollows(int length)
      throws IOException, InterruptedException {
    ServerSocketChannel server = listen();
    attach("stream:" + path());
    talk(server.accept());
    out.writeInt(length);
    out.flush();
    assertThat(in.read()).isEqualTo(-1);
    assertThat(states.poll(10, TimeUnit.SECONDS)).isFalse();
    send(packet(PEER, 1));
    assertThat(link.counters().notSent()).isEqualTo(Map.of(SendFailure.DOWN, 1L));
    talk(server.accept());
    assertThat(states.poll(10, TimeUnit.SECONDS)).isTrue();
    writeFrame(frame(9, OWN, OWN_MAC));
    assertThat(arrived.poll(10, TimeUnit.SECONDS).length).isEqualTo(9);
  }

  @Test
  void serverAcceptsOnePeerAfterTheOther() throws Exception {
    attach("stream:listen:" + path());
    assertThat(link.isUp()).isFalse();
    for (int round = 0; round < 2; round++) {
      SocketChannel peer = talk(SocketChannel.open(UnixDomainSocketAddress.of(path())));
      assertThat(states.poll(10, TimeUnit.SECONDS)).isTrue();
      try (SocketChannel second = SocketChannel.open(UnixDomainSocketAddress.of(path()))) {
        assertThat(Channels.newInputStream(second).read()).isEqualTo(-1);
      }
      writeFrame(frame(9, OWN, OWN_MAC));
      assertThat(arrived.poll(10, TimeUnit.SECONDS).length).isEqualTo(9);
      peer.close();
      assertThat(states.poll(10, TimeUnit.SECONDS)).isFalse();
    }
    close();
    open.clear();
    assertThat(Files.exists(directory.resolve("net"))).isFalse();
  }

  @Test
  void tcpWorks() throws IOException, InterruptedException {
    try (ServerSocketChannel server = ServerSocketChannel.open()) {
      server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      int port = ((InetSocketAddress) server.getLocalAddress()).getPort();
      attach("stream:127.0.0.1:" + port);
      talk(server.accept());
      writeFrame(ANSWER);
      writeFrame(frame(9, OWN, OWN_MAC));
      assertThat(arrived.poll(10, TimeUnit.SECONDS).length).isEqualTo(9);
      in.close();
      assertThat(states.poll(10, TimeUnit.SECONDS)).isFalse();
      talk(server.accept());
      assertThat(states.poll(10, TimeUnit.SECONDS)).isTrue();
    }
  }

  @Test
  void peerThatDoesNotReadIsWaitedFor() throws IOException, InterruptedException {
    ServerSocketChannel server = listen();
    attach("stream:" + path());
    talk(server.accept());
    Packet packet = packet(PEER, 4096);
    packet.destinationMac = PEER_MAC;
    int sent = 0;
    while (link.hasRoom()) {
      send(packet);
      sent++;
    }
    for (int i = 0; i < sent; i++) {
      assertDecodes(readFrame(), 4096);
    }
    assertThat(link.hasRoom()).isTrue();
    assertThat(link.counters().sent()).isEqualTo(sent);
    assertThat(link.counters().notSent()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"stream:", "stream:x", "stream:host:", "stream::5", "stream:127.0.0.1:70000"})
  void invalidAddressIsRefused(String specification) {
    assertThatThrownBy(() -> attach(specification))
        .isInstanceOf(LinkException.class)
        .hasMessageContaining("give stream:/path, stream:host:port");
  }

  @Test
  void missingListenerIsReported() {
    assertThatThrownBy(() -> attach("stream:" + path()))
        .isInstanceOf(LinkException.class)
        .hasMessageContaining("no peer listens there");
  }

  @Test
  void secondListenerIsRefused() throws IOException {
    listen();
    assertThatThrownBy(() -> attach("stream:listen:" + path()))
        .isInstanceOfSatisfying(
            LinkException.class, e -> assertThat(e.reason()).isEqualTo(LinkException.Reason.BUSY))
        .hasMessageContaining("another process listens there already");
  }
}
