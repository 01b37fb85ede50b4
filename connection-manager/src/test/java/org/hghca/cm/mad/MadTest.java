package org.hghca.cm.mad;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.HexFormat;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import org.hghca.cm.carrier.PrivateData;
import org.hghca.verbs.Gid;
import org.junit.jupiter.api.Test;

/** The layouts of the messages. */
class MadTest {
  private static final long SEED = 0x1b17;

  /** The REQ that an rping of Linux sends to port 7174. */
  static final Mad REQUEST =
      new Mad(
          0xa_1122_3344L,
          new Req(
              0x1122_3344,
              0x0106_1c06L,
              0x5054_00ff_fe12_3456L,
              0x11,
              1,
              1,
              20,
              0,
              false,
              0x123456,
              20,
              7,
              0xffff,
              3,
              7,
              15,
              false,
              new PathFields(
                  0xffff,
                  0xffff,
                  Gid.ofIpv4(0x0a63_0001),
                  Gid.ofIpv4(0x0a63_000b),
                  0x307c6,
                  0,
                  0,
                  64,
                  0,
                  false,
                  17),
              Optional.empty(),
              new CmaHeader(40000, address("10.99.0.1"), address("10.99.0.11"))
                  .before(PrivateData.EMPTY)));

  private static InetAddress address(String literal) {
    return InetAddress.ofLiteral(literal);
  }

  /** The bytes of {@link #REQUEST}: what is not 0, by its offset in the data. */
  private static byte[] vector() {
    byte[] mad = new byte[256];
    put(mad, 0, "0107 0203 00000000 0000000a11223344 0010 0000 00000000");
    put(mad, 24, "11223344");
    put(mad, 24 + 8, "0000000001061c06");
    put(mad, 24 + 16, "505400fffe123456");
    put(mad, 24 + 32, "00001101");
    put(mad, 24 + 39, "01");
    put(mad, 24 + 43, "a0123456a7ffff37f0ffffffff");
    put(mad, 24 + 66, "ffff0a630001");
    put(mad, 24 + 82, "ffff0a63000b307c6000");
    put(mad, 24 + 93, "40");
    put(mad, 24 + 95, "88");
    put(mad, 24 + 141, "409c40");
    put(mad, 24 + 156, "0a630001");
    put(mad, 24 + 172, "0a63000b");
    return mad;
  }

  private static void put(byte[] into, int at, String hex) {
    byte[] bytes = HexFormat.of().parseHex(hex.replace(" ", ""));
    System.arraycopy(bytes, 0, into, at, bytes.length);
  }

  @Test
  void requestOfLinux() {
    assertThat(HexFormat.of().formatHex(REQUEST.toBytes()))
        .isEqualTo(HexFormat.of().formatHex(vector()));
    Mad read = (Mad) Parsed.of(vector());
    assertThat(read.toBytes()).isEqualTo(vector());
    Req req = (Req) read.message();
    assertThat(req.primary()).isEqualTo(((Req) REQUEST.message()).primary());
    assertThat(req.alternate()).isEmpty();
    assertThat(CmaHeader.read(req.privateData()))
        .contains(new CmaHeader(40000, address("10.99.0.1"), address("10.99.0.11")));
    assertThat(CmaHeader.rest(req.privateData()).length()).isEqualTo(56);
  }

  @Test
  void everyFieldOfEveryMessageIsReadAsWritten() {
    RandomGenerator random = new SplittableRandom(SEED);
    for (Class<? extends Message> kind : Messages.KINDS) {
      for (int round = 0; round < 200; round++) {
        Mad mad = new Mad(random.nextLong(), Messages.random(random, kind));
        assertThat(mad.toBytes()).hasSize(256);
        assertThat(Parsed.of(mad.toBytes())).as("round %d", round).isEqualTo(mad);
      }
    }
  }

  @Test
  void shorterPrivateDataIsFilledWithZeros() {
    Mad mad = new Mad(1, new Rtu(2, 3, PrivateData.of(new byte[] {9})));
    Rtu read = (Rtu) ((Mad) Parsed.of(mad.toBytes())).message();
    assertThat(read.privateData().length()).isEqualTo(224);
    assertThat(read.privateData().toString()).isEqualTo("09" + "00".repeat(223));
  }

  @Test
  void valueThatDoesNotFitIsRefused() {
    assertThatThrownBy(() -> new Mad(1, new Dreq(1, 2, 1 << 24, PrivateData.EMPTY)).toBytes())
        .hasMessage("0x1000000 in a field of 24 bits of a MAD");
    PrivateData long221 = PrivateData.of(new byte[221]);
    assertThatThrownBy(() -> new Mad(1, new Dreq(1, 2, 3, long221)).toBytes())
        .hasMessage("221 bytes of data, where there is room for 220");
  }

  @Test
  void otherDatagramsAreMalformed() {
    assertMalformed(new byte[0], "0 bytes: a MAD has 256");
    assertMalformed(new byte[255], "255 bytes");
    assertMalformed(new byte[257], "257 bytes");
    assertMalformed(corrupted(0, 2), "base version 2");
    assertMalformed(corrupted(1, 3), "class 0x03");
    assertMalformed(corrupted(2, 1), "class version 1");
    assertMalformed(corrupted(3, 1), "method 0x01");
    assertMalformed(corrupted(17, 1), "attribute 0x0001");
    assertMalformed(corrupted(16, 1), "attribute 0x0110");
    byte[] rej = new Mad(1, Messages.random(new SplittableRandom(1), Rej.class)).toBytes();
    rej[24 + 9] = (byte) (73 << 1);
    assertMalformed(rej, "73 bytes of additional information");
  }

  private static byte[] corrupted(int at, int value) {
    byte[] mad = vector();
    mad[at] = (byte) value;
    return mad;
  }

  private static void assertMalformed(byte[] bytes, String reason) {
    assertThat(Parsed.of(bytes))
        .isInstanceOfSatisfying(
            Parsed.Malformed.class, malformed -> assertThat(malformed.reason()).contains(reason));
  }

  /** Nothing is thrown, and what is a message can be written again. */
  @Test
  void randomBytes() {
    RandomGenerator random = new SplittableRandom(SEED);
    int messages = 0;
    for (int round = 0; round < 100_000; round++) {
      byte[] bytes = new byte[256];
      random.nextBytes(bytes);
      put(bytes, 0, "01070203");
      bytes[16] = 0;
      bytes[17] = (byte) (0x10 + random.nextInt(12));
      if (Parsed.of(bytes) instanceof Mad mad) {
        messages++;
        assertThat(Parsed.of(mad.toBytes())).as("round %d, seed %d", round, SEED).isEqualTo(mad);
        if (mad.message() instanceof Req req) {
          assertThat(CmaHeader.read(req.privateData())).isNotNull();
        }
      }
    }
    assertThat(messages).isGreaterThan(70_000);
  }

  @Test
  void headerThatNamesAddresses() {
    InetSocketAddress source = new InetSocketAddress("fd00::1", 4711);
    InetSocketAddress destination = new InetSocketAddress("fd00::2", 7471);
    PrivateData data = CmaHeader.of(source, destination).before(PrivateData.of(new byte[] {7}));
    assertThat(data.toString())
        .isEqualTo("00601267fd000000000000000000000000000001fd00000000000000000000000000000207");
    CmaHeader read = CmaHeader.read(data).orElseThrow();
    assertThat(read).isEqualTo(CmaHeader.of(source, destination));
    assertThat(read.source()).isInstanceOf(Inet6Address.class);
    assertThat(CmaHeader.rest(data)).isEqualTo(PrivateData.of(new byte[] {7}));
    byte[] other = data.toArray();
    other[1] = 0x50;
    assertThat(CmaHeader.read(PrivateData.of(other))).isEmpty();
    other[1] = 0x40;
    other[0] = 1;
    assertThat(CmaHeader.read(PrivateData.of(other))).isEmpty();
    assertThat(CmaHeader.read(PrivateData.of(new byte[35]))).isEmpty();
    assertThatThrownBy(
            () ->
                new CmaHeader(1, address("fd00::1"), address("10.0.0.1")).before(PrivateData.EMPTY))
        .hasMessageContaining("not both IPv4 or both IPv6");
  }
}
