package org.hghca.cm.mad;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.hghca.cm.carrier.PrivateData;
import org.hghca.verbs.Gid;
import org.hghca.verbs.QueuePair;
import org.hghca.wire.Packet;
import org.hghca.wire.PacketPool;
import org.hghca.wire.frame.FrameEncoder;
import org.hghca.wire.frame.FrameLayout;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Wireshark reads the written messages. The test is skipped where its command line is missing. */
class TsharkTest {
  private static final long SEED = 0x1b;
  private static final int ROUNDS = 100;
  private static final String CM = "infiniband.cm.";

  /** Of a capture of Ethernet frames, in the order of this machine's bytes. */
  private static final int MAGIC = 0xa1b2c3d4;

  private static final List<String> FIELDS =
      Stream.concat(
              Stream.of(
                  "_ws.malformed",
                  "infiniband.mad.baseversion",
                  "infiniband.mad.mgmtclass",
                  "infiniband.mad.classversion",
                  "infiniband.mad.method",
                  "infiniband.mad.status",
                  "infiniband.mad.transactionid",
                  "infiniband.mad.attributeid",
                  "infiniband.mad.attributemodifier"),
              Stream.of(
                      """
                      req req.serviceid req.localcaguid req.localqkey req.localqpn
                      req.responderres req.localeecn req.initdepth req.remoteeecn
                      req.remoteresptout req.transpsvctype req.e2eflowctrl req.startpsn
                      req.localresptout req.retrcount req.pkey req.pppmtu req.rdcexist
                      req.rnrretrcount req.maxcmretr req.srq req.ext_transport
                      req.prim_locallid req.prim_remotelid req.prim_localgid_ipv4
                      req.prim_remotegid_ipv4 req.prim_tfcclass req.prim_hoplim req.prim_sl
                      req.prim_subnetlocal req.prim_localacktout req.alt_locallid
                      req.alt_remotelid req.alt_localgid req.alt_remotegid req.alt_tfcclass
                      req.alt_hoplim req.alt_sl req.alt_subnetlocal req.alt_localacktout
                      req.private req.ip_cm.majv req.ip_cm.minv req.ip_cm.ipv req.ip_cm.sport
                      req.ip_cm.sip4 req.ip_cm.dip4 req.ip_cm.private req.serviceid.dport
                      rep rep.remotecommid rep.localqkey rep.localqpn rep.localeecn
                      rep.startpsn rep.respres rep.initdepth rep.tgtackdelay rep.failoveracc
                      rep.e2eflowctrl rep.rnrretrcount rep.srq rep.localcaguid rep.private
                      rtu.localcommid rtu.remotecommid rtu.private
                      rej.localcommid rej.remotecommid rej.msgrej rej.rejinfolen
                      rej.reason rej.ari rej.private
                      dreq.localcommid dreq.remotecommid req.remoteqpneecn dreq.private
                      drsp.localcommid drsp.remotecommid drsp.private\
                      """
                          .split("\\s+"))
                  .map(name -> CM + name))
          .toList();

  @TempDir Path folder;

  @Test
  void wiresharkReadsWrittenMessages() throws IOException, InterruptedException {
    SplittableRandom random = new SplittableRandom(SEED);
    List<Mad> mads = new ArrayList<>();
    for (int round = 0; round < ROUNDS; round++) {
      for (Class<? extends Message> kind : Messages.KINDS) {
        mads.add(new Mad(random.nextLong(), Messages.random(random, kind)));
      }
    }
    mads.add(MadTest.REQUEST);
    Path capture = folder.resolve("messages.pcap");
    Files.write(capture, capture(mads.stream().map(TsharkTest::frame).toList()));
    List<Map<String, String>> seen = dissect(capture);
    assertThat(seen).hasSize(mads.size());
    for (int i = 0; i < mads.size(); i++) {
      Map<String, String> expected = expected(mads.get(i));
      assertThat(seen.get(i)).as("%s, seed %d", mads.get(i), SEED).containsAllEntriesOf(expected);
    }
  }

  private static byte[] frame(Mad mad) {
    Packet packet = new PacketPool().take();
    packet.destinationMac = 0x5254_0000_000bL;
    packet.sourceMac = 0x5254_0000_0001L;
    packet.destinationIpLow = Gid.ofIpv4(0x0a63_000b).interfaceId();
    packet.sourceIpLow = Gid.ofIpv4(0x0a63_0001).interfaceId();
    packet.opcode = 0x64;
    packet.destinationQpn = QueuePair.GSI_NUMBER;
    packet.sourceQpn = QueuePair.GSI_NUMBER;
    packet.queueKey = QueuePair.GSI_QKEY;
    packet.length = Mad.LENGTH;
    MemorySegment.copy(mad.toBytes(), 0, packet.payload(), ValueLayout.JAVA_BYTE, 0, Mad.LENGTH);
    MemorySegment memory = Arena.ofAuto().allocate(FrameLayout.MAX_FRAME);
    int length = new FrameEncoder(memory).encode(packet, 0);
    return memory.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE);
  }

  private static byte[] capture(List<byte[]> frames) {
    int size = 24 + frames.stream().mapToInt(frame -> 16 + frame.length).sum();
    ByteBuffer out = ByteBuffer.allocate(size).order(ByteOrder.nativeOrder());
    out.putInt(MAGIC).putShort((short) 2).putShort((short) 4).putLong(0);
    out.putInt(1 << 16).putInt(1);
    for (byte[] frame : frames) {
      out.putLong(0).putInt(frame.length).putInt(frame.length).put(frame);
    }
    return out.array();
  }

  private List<Map<String, String>> dissect(Path capture) throws IOException, InterruptedException {
    List<String> command =
        new ArrayList<>(
            List.of("tshark", "-r", capture.toString(), "-n", "-T", "fields", "-E", "separator=;"));
    for (String field : FIELDS) {
      command.add("-e");
      command.add(field);
    }
    Path out = folder.resolve("fields");
    Process process;
    try {
      process =
          new ProcessBuilder(command)
              .redirectOutput(out.toFile())
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
    } catch (IOException e) {
      return abort("tshark is not installed: apt install tshark (" + e.getMessage() + ")");
    }
    try {
      assertThat(process.waitFor(50, TimeUnit.SECONDS)).isTrue();
    } finally {
      process.destroyForcibly();
    }
    assertThat(process.exitValue()).isZero();
    List<Map<String, String>> result = new ArrayList<>();
    for (String line : Files.readString(out, StandardCharsets.UTF_8).lines().toList()) {
      String[] values = line.split(";", -1);
      Map<String, String> fields = new TreeMap<>();
      for (int i = 0; i < values.length; i++) {
        if (!values[i].isEmpty()) {
          fields.put(FIELDS.get(i), values[i]);
        }
      }
      result.add(fields);
    }
    return result;
  }

  private static Map<String, String> expected(Mad mad) {
    Map<String, String> fields = new TreeMap<>();
    fields.put("infiniband.mad.baseversion", "0x01");
    fields.put("infiniband.mad.mgmtclass", "0x07");
    fields.put("infiniband.mad.classversion", "0x02");
    fields.put("infiniband.mad.method", "0x03");
    fields.put("infiniband.mad.status", "0x0000");
    fields.put("infiniband.mad.transactionid", hex(mad.transactionId(), 8));
    fields.put("infiniband.mad.attributemodifier", "0x00000000");
    int kind = Messages.KINDS.indexOf(mad.message().getClass());
    fields.put("infiniband.mad.attributeid", hex(0x10 + kind, 2));
    Map<String, String> own =
        switch (mad.message()) {
          case Req req -> of(req);
          case Rej rej -> of(rej);
          case Rep rep -> of(rep);
          case Rtu rtu -> both("rtu", rtu.localId(), rtu.remoteId(), rtu.privateData());
          case Dreq dreq -> {
            Map<String, String> all =
                both("dreq", dreq.localId(), dreq.remoteId(), dreq.privateData());
            all.put("req.remoteqpneecn", hex(dreq.remoteQpNumber(), 3));
            yield all;
          }
          case Drep drep -> both("drsp", drep.localId(), drep.remoteId(), drep.privateData());
          // Wireshark dissects the header of the others.
          case Mra _, SidrReq _, SidrRep _, Lap _, Apr _ -> Map.of();
        };
    own.forEach((name, value) -> fields.put(CM + name, value));
    return fields;
  }

  /** What messages with both communication IDs have in common. */
  private static Map<String, String> both(
      String message, int localId, int remoteId, PrivateData privateData) {
    Map<String, String> fields = new TreeMap<>();
    fields.put(message + ".localcommid", hex(localId, 4));
    fields.put(message + ".remotecommid", hex(remoteId, 4));
    fields.put(message + ".private", privateData.toString());
    return fields;
  }

  private static Map<String, String> of(Rej rej) {
    Map<String, String> fields = both("rej", rej.localId(), rej.remoteId(), rej.privateData());
    fields.put("rej.msgrej", hex(rej.message(), 1));
    fields.put("rej.rejinfolen", hex(rej.information().length(), 1));
    fields.put("rej.reason", hex(rej.reason(), 2));
    fields.put("rej.ari", rej.information() + "00".repeat(72 - rej.information().length()));
    return fields;
  }

  /**
   * Without flow label and packet rate, which Wireshark 4.0 reads from other bits of their word.
   */
  private static Map<String, String> of(Req req) {
    PathFields primary = req.primary();
    Map<String, String> fields = new TreeMap<>();
    fields.put("req", hex(req.localId(), 4));
    fields.put("req.serviceid", hex(req.serviceId(), 8));
    fields.put("req.localcaguid", hex(req.caGuid(), 8));
    fields.put("req.localqkey", "0x00000000");
    fields.put("req.localqpn", hex(req.qpNumber(), 3));
    fields.put("req.responderres", hex(req.responderResources(), 1));
    fields.put("req.localeecn", "0x000000");
    fields.put("req.initdepth", hex(req.initiatorDepth(), 1));
    fields.put("req.remoteeecn", "0x000000");
    fields.put("req.remoteresptout", hex(req.remoteResponseTimeout(), 1));
    fields.put("req.transpsvctype", hex(req.transport(), 1));
    fields.put("req.e2eflowctrl", hex(req.flowControl()));
    fields.put("req.startpsn", hex(req.startingPsn(), 3));
    fields.put("req.localresptout", hex(req.localResponseTimeout(), 1));
    fields.put("req.retrcount", hex(req.retryCount(), 1));
    fields.put("req.pkey", hex(req.partitionKey(), 2));
    fields.put("req.pppmtu", hex(req.pathMtu(), 1));
    fields.put("req.rdcexist", "0x00");
    fields.put("req.rnrretrcount", hex(req.rnrRetry(), 1));
    fields.put("req.maxcmretr", hex(req.maxCmRetries(), 1));
    fields.put("req.srq", hex(req.sharedReceiveQueue()));
    fields.put("req.ext_transport", "0x00");
    fields.put("req.prim_localgid_ipv4", ipv4(primary.localGid()));
    fields.put("req.prim_remotegid_ipv4", ipv4(primary.remoteGid()));
    fields.putAll(of("req.prim_", primary));
    req.alternate()
        .ifPresent(
            path -> {
              fields.putAll(of("req.alt_", path));
              fields.put("req.alt_localgid", path.localGid().hex());
              fields.put("req.alt_remotegid", path.remoteGid().hex());
            });
    if (req.serviceId() >>> 16 != 0x0106) {
      fields.put("req.private", req.privateData().toString());
      return fields;
    }
    CmaHeader header = CmaHeader.read(req.privateData()).orElseThrow();
    fields.put("req.serviceid.dport", hex(req.serviceId(), 2));
    fields.put("req.ip_cm.majv", "0x00");
    fields.put("req.ip_cm.minv", "0x00");
    fields.put("req.ip_cm.ipv", "0x04");
    fields.put("req.ip_cm.sport", hex(header.sourcePort(), 2));
    fields.put("req.ip_cm.sip4", header.source().getHostAddress());
    fields.put("req.ip_cm.dip4", header.destination().getHostAddress());
    fields.put("req.ip_cm.private", "00".repeat(56));
    return fields;
  }

  /** A path without its GIDs, of which Wireshark shows the primary ones as IPv4 addresses. */
  private static Map<String, String> of(String prefix, PathFields path) {
    Map<String, String> fields = new TreeMap<>();
    fields.put(prefix + "locallid", "" + path.localLid());
    fields.put(prefix + "remotelid", "" + path.remoteLid());
    fields.put(prefix + "tfcclass", hex(path.trafficClass(), 1));
    fields.put(prefix + "hoplim", hex(path.hopLimit(), 1));
    fields.put(prefix + "sl", hex(path.serviceLevel(), 1));
    fields.put(prefix + "subnetlocal", hex(path.subnetLocal()));
    fields.put(prefix + "localacktout", hex(path.ackTimeout(), 1));
    return fields;
  }

  private static Map<String, String> of(Rep rep) {
    Map<String, String> fields = new TreeMap<>();
    fields.put("rep", hex(rep.localId(), 4));
    fields.put("rep.remotecommid", hex(rep.remoteId(), 4));
    fields.put("rep.localqkey", "0x00000000");
    fields.put("rep.localqpn", hex(rep.qpNumber(), 3));
    fields.put("rep.localeecn", "0x000000");
    fields.put("rep.startpsn", hex(rep.startingPsn(), 3));
    fields.put("rep.respres", hex(rep.responderResources(), 1));
    fields.put("rep.initdepth", hex(rep.initiatorDepth(), 1));
    fields.put("rep.tgtackdelay", hex(rep.targetAckDelay(), 1));
    fields.put("rep.failoveracc", hex(rep.failoverAccepted(), 1));
    fields.put("rep.e2eflowctrl", hex(rep.flowControl()));
    fields.put("rep.rnrretrcount", hex(rep.rnrRetry(), 1));
    fields.put("rep.srq", hex(rep.sharedReceiveQueue()));
    fields.put("rep.localcaguid", hex(rep.caGuid(), 8));
    fields.put("rep.private", rep.privateData().toString());
    return fields;
  }

  private static String hex(boolean value) {
    return value ? "0x01" : "0x00";
  }

  private static String hex(long value, int bytes) {
    return "0x" + HexFormat.of().toHexDigits(value).substring(16 - 2 * bytes);
  }

  /** Its last four bytes, which are all that Wireshark shows in packets of IPv4. */
  private static String ipv4(Gid gid) {
    return Gid.ofIpv4((int) gid.interfaceId()).address().getHostAddress();
  }
}
