package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.hghca.verbs.Mtu;
import org.hghca.verbs.PortState;
import org.hghca.verbs.WrOpcode;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * What Wireshark reads of HCAs at interfaces of the kernel: in their own captures, and on the wire,
 * where neighbor resolution and reports of groups are, too. Within the network namespace of {@link
 * KernelInterfacesTest}.
 */
@EnabledIfSystemProperty(named = "hghca.namespace", matches = "true")
class InterfaceCaptureTest {
  /** Taps on a bridge; the veth pair exists. */
  private static final String TAPS =
      "ip link add br0 type bridge; ip link set br0 mtu 4200 addrgenmode none up;"
          + " for i in t0 t1; do ip tuntap add dev $i mode tap;"
          + " ip link set $i mtu 4200 addrgenmode none master br0 up; done";

  /** The bytes that are transferred. */
  private static final int PAYLOAD = 5000 + 2500 + 9000;

  @TempDir Path folder;

  private static void shell(String command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder("sh", "-ec", command).inheritIO().start();
    assertThat(process.waitFor()).as(command).isZero();
  }

  /** Captures at an interface from when this returns, until it is interrupted. */
  private static Process capture(String name, Path file) throws IOException {
    Process process;
    try {
      process =
          new ProcessBuilder("dumpcap", "-q", "-i", name, "-w", file.toString())
              .redirectErrorStream(true)
              .start();
    } catch (IOException e) {
      return abort("dumpcap is not installed: apt install tshark (" + e.getMessage() + ")");
    }
    BufferedReader said =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    String line = said.readLine();
    while (line != null && !line.startsWith("File:")) {
      line = said.readLine();
    }
    assertThat(line).as("dumpcap captures").isNotNull();
    return process;
  }

  @ParameterizedTest
  @CsvSource({"packet, v0, v1, v1", "tap, t0, t1, t1"})
  void wiresharkFindsNoMalformedPacket(String kind, String left, String right, String wire)
      throws IOException, InterruptedException {
    if (kind.equals("tap")) {
      shell(TAPS);
    }
    Path all = folder.resolve("wire.pcapng");
    Process dumpcap = capture(wire, all);
    try (RcPair pair =
        new RcSetup()
            .mtu(Mtu.MTU_1024)
            .retries(1, 7, 16, 7)
            .unconnected()
            .on(Fabric.on(locator(kind, left), locator(kind, right)))) {
      for (Side side : List.of(pair.left, pair.right)) {
        pair.fabric.await(
            () -> side.context.queryPort(1).state() == PortState.ACTIVE, () -> "no carrier");
      }
      pair.connect(1, 2);
      Transfer transfer = new Transfer(pair.left, pair.right, 1);
      transfer.run(WrOpcode.SEND, Pieces.one(0, 5000), Pieces.one(0, 5000));
      transfer.run(WrOpcode.RDMA_WRITE, Pieces.one(0, 2500), Pieces.one(64, 2500));
      transfer.run(WrOpcode.RDMA_READ, Pieces.one(0, 9000), Pieces.one(0, 9000));
      pair.fabric.await(
          () -> all.toFile().length() > PAYLOAD, () -> "the kernel's capture has not all of it");
    } finally {
      shell("kill -INT " + dumpcap.pid());
      assertThat(dumpcap.waitFor()).isZero();
    }
    for (String side : List.of(left, right)) {
      assertThat(malformed(file(side)))
          .hasSizeGreaterThan(15)
          .allMatch(packet -> packet.matches("\\|\\d+\\|.*"), "a packet of RoCE");
    }
    List<String> seen = malformed(all);
    assertThat(seen).hasSizeGreaterThan(15);
    assertThat(seen).as("neighbor discovery").anyMatch(packet -> packet.startsWith("||135|"));
    assertThat(seen).as("its answer").anyMatch(packet -> packet.startsWith("||136|"));
    assertThat(seen).as("reports of groups").anyMatch(packet -> packet.startsWith("||143|"));
  }

  private String locator(String kind, String name) {
    return "model:seen-%s?net=%s:%s&capture=%s".formatted(name, kind, name, file(name));
  }

  private Path file(String side) {
    return folder.resolve(side + ".pcapng");
  }

  /** Opcode and ICMPv6 type of each packet, none of which is malformed or has a bad checksum. */
  private static List<String> malformed(Path capture) throws IOException, InterruptedException {
    List<String> packets =
        Tshark.fields(
            capture,
            List.of(
                "_ws.malformed",
                "infiniband.bth.opcode",
                "icmpv6.type",
                "ip.checksum.status",
                "icmpv6.checksum.status"),
            "-o",
            "ip.check_checksum:TRUE",
            "--disable-heuristic",
            "eth_over_ib",
            "--disable-protocol",
            "rpcordma");
    assertThat(packets)
        .allMatch(packet -> packet.startsWith("|"), "no malformed part")
        .allMatch(packet -> packet.matches(".*\\|1?\\|1?"), "no bad checksum");
    return packets;
  }
}
