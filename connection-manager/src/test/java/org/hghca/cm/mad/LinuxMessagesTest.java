package org.hghca.cm.mad;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.hghca.verbs.Gid;
import org.junit.jupiter.api.Test;

/**
 * Messages that the kernel of Linux has sent over soft RoCE for {@code rping} and {@code udaddy},
 * captured at the network; zeros at their ends are left out.
 */
class LinuxMessagesTest {
  private static final String REQ =
      "0107020300000000000000024a221fdb0010000000000000db1f224a00000000"
          + "0000000001061c06505400fffe0a630b000000000000000000002e0100000001"
          + "000000a001f73ca7ffff57f0ffffffff00000000000000000000ffff0a63000b"
          + "00000000000000000000ffff0a6300011c37c000004000880000000000000000"
          + "0000000000000000000000000000000000000000000000000000000000000000"
          + "00000000004091ca0000000000000000000000000a63000b0000000000000000"
          + "000000000a630001";

  private static final String REP =
      "0107020300000000d957739b000000000013000000000000dd1f224a8ec2ed6a"
          + "0000000000003300000000000d958e00010178e0505400fffe0a630b";

  private static final String RTU =
      "0107020300000000000000024a221fdb0014000000000000db1f224a17916df3";

  private static final String DREQ =
      "0107020300000000000000024a221fdb0015000000000000db1f224a17916df3" + "000002";

  private static final String DREP =
      "0107020300000000d957739b000000010016000000000000dd1f224a8ec2ed6a";

  private static final String SIDR_REQ =
      "0107020300000000000000024a221fee0017000000000000ee1f224affff0000"
          + "0000000001111c060040eb160000000000000000000000000a63000b00000000"
          + "00000000000000000a630001";

  private static final String SIDR_REP =
      "01070203000000001cb0e164000000000018000000000000b78920a300000000"
          + "000029000000000001111c0601234567";

  private static byte[] bytes(String hex) {
    return Arrays.copyOf(HexFormat.of().parseHex(hex), 256);
  }

  private static Mad read(String hex) {
    return (Mad) Parsed.of(bytes(hex));
  }

  /** Nothing that Linux says is lost: all its bytes are fields here. */
  @Test
  void messagesAreWrittenAsLinuxWritesThem() {
    for (String message : List.of(REQ, REP, RTU, DREQ, DREP, SIDR_REQ, SIDR_REP)) {
      assertThat(HexFormat.of().formatHex(read(message).toBytes()))
          .isEqualTo(HexFormat.of().formatHex(bytes(message)));
    }
  }

  @Test
  void requestOfRping() {
    Mad mad = read(REQ);
    assertThat(mad.transactionId()).isEqualTo(0x2_4a22_1fdbL);
    Req req = (Req) mad.message();
    assertThat(req.localId()).isEqualTo(0xdb1f_224a);
    assertThat(req.serviceId()).isEqualTo(0x0106_1c06L);
    assertThat(req.caGuid()).isEqualTo(0x5054_00ff_fe0a_630bL);
    assertThat(req.qpNumber()).isEqualTo(0x2e);
    assertThat(List.of(req.responderResources(), req.initiatorDepth())).containsExactly(1, 1);
    assertThat(List.of(req.remoteResponseTimeout(), req.localResponseTimeout()))
        .containsExactly(20, 20);
    assertThat(req.startingPsn()).isEqualTo(0x01f73c);
    assertThat(List.of(req.retryCount(), req.rnrRetry(), req.maxCmRetries()))
        .containsExactly(7, 7, 15);
    assertThat(List.of(req.transport(), req.pathMtu())).containsExactly(0, 5);
    assertThat(req.primary())
        .isEqualTo(
            new PathFields(
                0xffff,
                0xffff,
                Gid.ofIpv4(0x0a63_000b),
                Gid.ofIpv4(0x0a63_0001),
                0x1c37c,
                0,
                0,
                64,
                0,
                false,
                17));
    assertThat(req.alternate()).isEmpty();
    assertThat(CmaHeader.read(req.privateData()))
        .contains(
            new CmaHeader(
                0x91ca, InetAddress.ofLiteral("10.99.0.11"), InetAddress.ofLiteral("10.99.0.1")));
  }

  @Test
  void replyOfRping() {
    Rep rep = (Rep) read(REP).message();
    assertThat(List.of(rep.localId(), rep.remoteId())).containsExactly(0xdd1f_224a, 0x8ec2_ed6a);
    assertThat(rep.qpNumber()).isEqualTo(0x33);
    assertThat(rep.startingPsn()).isEqualTo(0x0d958e);
    assertThat(List.of(rep.responderResources(), rep.initiatorDepth())).containsExactly(1, 1);
    assertThat(rep.targetAckDelay()).isEqualTo(15);
    assertThat(rep.rnrRetry()).isEqualTo(7);
    assertThat(rep.caGuid()).isEqualTo(0x5054_00ff_fe0a_630bL);
  }

  @Test
  void releaseOfRping() {
    Dreq dreq = (Dreq) read(DREQ).message();
    assertThat(dreq.remoteId()).isEqualTo(0x1791_6df3);
    assertThat(dreq.remoteQpNumber()).isEqualTo(2);
    assertThat(((Drep) read(DREP).message()).localId()).isEqualTo(0xdd1f_224a);
    assertThat(((Rtu) read(RTU).message()).remoteId()).isEqualTo(0x1791_6df3);
  }

  @Test
  void questionAndAnswerOfUdaddy() {
    SidrReq req = (SidrReq) read(SIDR_REQ).message();
    assertThat(req.serviceId()).isEqualTo(0x0111_1c06L);
    assertThat(req.partitionKey()).isEqualTo(0xffff);
    assertThat(CmaHeader.read(req.privateData()).orElseThrow().sourcePort()).isEqualTo(0xeb16);
    SidrRep rep = (SidrRep) read(SIDR_REP).message();
    assertThat(rep.status()).isZero();
    assertThat(rep.qpNumber()).isEqualTo(0x29);
    assertThat(rep.queueKey()).isEqualTo(0x0123_4567);
    assertThat(rep.serviceId()).isEqualTo(0x0111_1c06L);
  }
}
