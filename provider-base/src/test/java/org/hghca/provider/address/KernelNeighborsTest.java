package org.hghca.provider.address;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;
import org.hghca.verbs.Gid;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class KernelNeighborsTest {
  private static final String TABLE =
      """
      IP address       HW type     Flags       HW address            Mask     Device
      192.0.2.1        0x1         0x2         02:00:00:00:00:01     *        eth0
      192.0.2.2        0x1         0x6         02:1a:BC:00:00:02     *        eth0
      192.0.2.3        0x1         0x0         00:00:00:00:00:00     *        eth0
      192.0.2.4        0x20        0x2         02:00:00:00:00:04     *        ib0
      192.0.2.5        0x1         0x0         00:00:00:00:00:00     *        eth0
      192.0.2.5        0x1         0x2         02:00:00:00:00:05     *        eth1
      """;

  @TempDir private Path directory;

  private KernelNeighbors table(String text) throws IOException {
    return new KernelNeighbors(Files.writeString(directory.resolve("arp"), text));
  }

  private static Gid gid(int last) {
    return Gid.ofIpv4(0xc000_0200 | last);
  }

  @ParameterizedTest
  @CsvSource({
    "1, 020000000001",
    "2, 021abc000002",
    "3, ", // not complete
    "4, ", // no Ethernet
    "5, 020000000005",
    "11, "
  })
  void answeredEntriesAreFound(int last, String mac) throws IOException {
    assertThat(table(TABLE).mac(gid(last)))
        .isEqualTo(mac == null ? OptionalLong.empty() : OptionalLong.of(Long.parseLong(mac, 16)));
  }

  @Test
  void ipv6GidsAreNotInTheTable() throws IOException {
    assertThat(table(TABLE).mac(new Gid(0xfd00L << 48, 1))).isEmpty();
  }

  @Test
  void missingTableHoldsNothing() throws IOException {
    assertThat(new KernelNeighbors(directory.resolve("none")).mac(gid(1))).isEmpty();
    assertThat(table("").mac(gid(1))).isEmpty();
    assertThat(new KernelNeighbors().mac(Gid.ofIpv4(0xf000_0001))).isEmpty();
  }

  @Test
  void addedNeighborTakesPrecedenceAndUnknownOneIsRefused() throws IOException {
    Neighbors neighbors = new Neighbors(table(TABLE));
    assertThat(neighbors.resolve(gid(1))).isEqualTo(0x0200_0000_0001L);
    neighbors.add(gid(1), 0x0200_0000_0099L);
    assertThat(neighbors.resolve(gid(1))).isEqualTo(0x0200_0000_0099L);
    assertThatThrownBy(() -> neighbors.resolve(gid(3)))
        .hasMessageContaining("'ping 192.0.2.3' on this machine first")
        .hasMessageContaining("Context.addNeighbor");
  }

  /** The table as the running kernel prints it. */
  @Test
  void entryOfTheRunningKernelIsFound() throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(
                "unshare",
                "-rn",
                "sh",
                "-ec",
                "ip link add v0 type veth peer name v1; ip link set v0 up;"
                    + " ip neigh add 192.0.2.7 lladdr 02:00:00:00:00:07 dev v0 nud permanent;"
                    + " ip neigh add 192.0.2.8 lladdr 02:00:00:00:00:08 dev v0 nud reachable;"
                    + " cat /proc/net/arp")
            .redirectErrorStream(true)
            .start();
    String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assumeTrue(process.waitFor() == 0, "'unshare -rn' with 'ip neigh' fails here: " + printed);
    assertThat(table(printed).mac(gid(7))).hasValue(0x0200_0000_0007L);
    assertThat(table(printed).mac(gid(8))).hasValue(0x0200_0000_0008L);
    assertThat(table(printed).mac(gid(9))).isEmpty();
  }
}
