package org.hghca.cm.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Optional;
import org.hghca.cm.carrier.ConnectReply;
import org.hghca.cm.carrier.ConnectRequest;
import org.hghca.cm.carrier.Handshake;
import org.hghca.cm.carrier.Path;
import org.hghca.cm.carrier.PrivateData;
import org.hghca.cm.carrier.Registration;
import org.hghca.verbs.Context;
import org.hghca.verbs.Gid;
import org.hghca.verbs.Mtu;
import org.hghca.verbs.QpType;
import org.hghca.verbs.RdmaDevices;
import org.hghca.verbs.WrapMemory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Memory for the PSN wrap in the messages of the TCP carrier. */
class OfferTest {
  private static final HexFormat HEX = HexFormat.of();
  private static final PrivateData DATA = PrivateData.of(new byte[] {(byte) 0xda, 0x7a});
  private static final Optional<WrapMemory> OFFER =
      Optional.of(new WrapMemory(0x8100_0002, 0xffff_ffff_ffff_e000L, 4096));
  private static final String OFFER_BYTES = "81000002ffffffffffffe00000001000";

  /** GID, flow label, traffic class, hop limit, service level, MTU, packet life, zeros. */
  private static final String PATH =
      "00000000000000000000ffff0a000001" + "00012345" + "08" + "40" + "03" + "03" + "10" + "000000";

  private static final String REQUEST =
      "0000000001067471" // service
          + "9c40" // port of the sender
          + PATH
          + "00123456" // number
          + "00abcdef" // PSN
          + "0201" // RC, shared receive queue
          + "0405" // responder resources, initiator depth
          + "0706" // retries
          + "0111" // flow control, ACK timeout
          + "0002da7a";
  private static final String REPLY =
      PATH + "00654321" + "00fedcba" + "01" + "0203" + "05" + "01" + "0f" + "0002da7a";

  private final Context context = RdmaDevices.open("model:offer?cable=offer&ip=10.0.0.1");
  private final TcpCarrier carrier = new TcpCarrier(context, Limits.DEFAULT);
  private final Recorder passive = new Recorder();
  private final Recorder active = new Recorder();
  private InetSocketAddress address;

  @BeforeEach
  void findPort() throws IOException {
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      address = (InetSocketAddress) free.getLocalSocketAddress();
    }
  }

  @AfterEach
  void close() {
    while (carrier.size() > 0) {
      Thread.onSpinWait(); // sockets of peers that have left
    }
    carrier.close();
    context.close();
  }

  private Path path() {
    Gid gid = Gid.of(InetAddress.ofLiteral("10.0.0.1"));
    return new Path(gid, 1, gid, 0x12345, 8, 64, 3, 1, Mtu.MTU_1024, 16);
  }

  private ConnectRequest request(long serviceId, Optional<WrapMemory> offer) {
    return new ConnectRequest(
        serviceId,
        new InetSocketAddress(address.getAddress(), 40000),
        address,
        path(),
        Optional.empty(),
        QpType.RC,
        0x12_3456,
        true,
        0xab_cdef,
        4,
        5,
        7,
        6,
        true,
        17,
        DATA,
        offer);
  }

  private ConnectRequest request(Optional<WrapMemory> offer) {
    return request(0x0106_0000L | address.getPort(), offer);
  }

  private ConnectReply reply(Optional<WrapMemory> offer) {
    return new ConnectReply(path(), 0x65_4321, true, 0xfe_dcba, 2, 3, 5, true, 15, DATA, offer);
  }

  private static String body(Message message) {
    byte[] bytes = new byte[message.body().remaining()];
    message.body().duplicate().get(bytes);
    return HEX.formatHex(bytes);
  }

  private static byte[] bytes(Message message) {
    return Arrays.copyOf(message.encoded().array(), message.encoded().remaining());
  }

  private static ByteBuffer buffer(String hex) {
    return ByteBuffer.wrap(HEX.parseHex(hex));
  }

  private ConnectRequest readRequest(String body) throws MalformedException {
    return Bodies.request(buffer(body), context, address, address);
  }

  private ConnectReply readReply(String body) throws MalformedException {
    return Bodies.reply(buffer(body), context, path());
  }

  @Test
  void messagesWithoutAnOfferEndWithPrivateData() throws Exception {
    assertThat(body(Bodies.of(request(0x0106_7471, Optional.empty())))).isEqualTo(REQUEST);
    assertThat(body(Bodies.of(reply(Optional.empty())))).isEqualTo(REPLY);
    assertThat(HEX.formatHex(bytes(Bodies.of(reply(Optional.empty())))))
        .isEqualTo("4847434d" + "0001" + "0001" + "0000002e" + REPLY);

    assertThat(readRequest(REQUEST).wrapMemory()).isEmpty();
    assertThat(readRequest(REQUEST).privateData()).isEqualTo(DATA);
    assertThat(readReply(REPLY)).isEqualTo(reply(Optional.empty()));
  }

  /** In the same version: an older peer ignores what follows the private data. */
  @Test
  void offerFollowsPrivateData() throws Exception {
    assertThat(body(Bodies.of(request(0x0106_7471, OFFER)))).isEqualTo(REQUEST + OFFER_BYTES);
    assertThat(body(Bodies.of(reply(OFFER)))).isEqualTo(REPLY + OFFER_BYTES);
    assertThat(HEX.formatHex(bytes(Bodies.of(reply(OFFER)))))
        .isEqualTo("4847434d" + "0001" + "0001" + "0000003e" + REPLY + OFFER_BYTES);

    assertThat(readRequest(REQUEST + OFFER_BYTES).wrapMemory()).isEqualTo(OFFER);
    assertThat(readReply(REPLY + OFFER_BYTES)).isEqualTo(reply(OFFER));
  }

  @Test
  void whatFollowsAnOfferIsIgnored() throws Exception {
    assertThat(readRequest(REQUEST + OFFER_BYTES + "00").wrapMemory()).isEqualTo(OFFER);
    assertThat(readReply(REPLY + OFFER_BYTES + "ff")).isEqualTo(reply(OFFER));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "00000000ffffffffffffe00000001000", // no key
        "81000002ffffffffffffe00000000fff", // too short
        "81000002ffffffffffffe00080000000", // of negative length
        "81000002ffffffffffffe00000002001", // beyond the end of the address space
        "81000002ffffffffffffe000000010", // 15 bytes
        "00"
      })
  void malformedOfferIsRefused(String offer) throws Exception {
    assertThatThrownBy(() -> readReply(REPLY + offer)).isInstanceOf(UnusableOfferException.class);
    Registration registration = carrier.listen(request(OFFER).serviceId(), address, passive);
    try (Socket peer = new Socket(address.getAddress(), address.getPort())) {
      String own = body(Bodies.of(request(Optional.empty())));
      peer.getOutputStream().write(bytes(new Message(Message.Kind.REQUEST, buffer(own + offer))));
      assertRefused(peer);
      assertThat(peer.getInputStream().read()).as("the end").isEqualTo(-1);
    }
    assertThat(passive.requests).hasValue(0);
    try (Handshake asking = carrier.connect(request(OFFER), active);
        Handshake asked = passive.next()) {
      asked.reply(reply(OFFER));
      assertThat(active.event()).isEqualTo("replied");
      asking.confirm(PrivateData.EMPTY);
      assertThat(passive.event()).isEqualTo("established");
    }
    registration.close();
  }

  private static void assertRefused(Socket peer) throws IOException {
    peer.setSoTimeout(20_000);
    assertThat(HEX.formatHex(peer.getInputStream().readNBytes(16)))
        .isEqualTo("4847434d" + "0001" + "0002" + "00000004" + "00050000");
  }

  @Test
  void malformedOfferOfAReplyEndsTheAttempt() throws Exception {
    try (ServerSocket server = new ServerSocket()) {
      server.bind(address);
      try (Handshake asking = carrier.connect(request(OFFER), active);
          Socket peer = server.accept()) {
        byte[] asked = peer.getInputStream().readNBytes(bytes(Bodies.of(request(OFFER))).length);
        assertThat(HEX.formatHex(asked)).endsWith(OFFER_BYTES);
        String offer = "00000000ffffffffffffe00000001000";
        peer.getOutputStream().write(bytes(new Message(Message.Kind.REPLY, buffer(REPLY + offer))));
        assertThat(active.event())
            .startsWith("unreachable: asked %s by TCP: ".formatted(address))
            .contains("rkey 0x00000000")
            .contains("is no memory for the PSN wrap");
        assertThat(asking.toString()).contains("ENDED");
        assertRefused(peer);
      }
    }
  }
}
