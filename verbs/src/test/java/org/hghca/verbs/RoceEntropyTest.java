package org.hghca.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** The numbers were calculated by hand from the text of the two proposals. */
class RoceEntropyTest {

  @ParameterizedTest
  @CsvSource({
    // Both bits 16 to 23 and 0 to 7 count: the highest byte is folded into the lowest.
    "0x000000, 0x000000, 0xC000",
    "0x000001, 0x000002, 0xC003",
    "0x010000, 0x000000, 0xC001",
    "0x123456, 0x000000, 0xF444",
    "0x123456, 0x654321, 0xF700",
    "0x00ffff, 0x000000, 0xFFFF",
    "0xff00ff, 0x000000, 0xC000",
    // The same number on both ends: the exclusive or would always be 0.
    "0x123456, 0x123456, 0xF444",
    "0x000048, 0x000048, 0xC048",
  })
  void version1ConnectionPortIsOfTheFoldedNumbers(String local, String remote, String port) {
    assertThat(RoceEntropy.V1.connectionPort(Integer.decode(local), Integer.decode(remote)))
        .isEqualTo(Integer.decode(port));
  }

  @ParameterizedTest
  @CsvSource({
    "0x123456, 0x654321, 0xF700",
    "0x123456, 0x123456, 0xF444",
    // A multicast group: the sender alone counts.
    "0x123456, 0xffffff, 0xF444",
    "0x000001, 0xffffff, 0xC001",
  })
  void version1DatagramPortOfAGroupDependsOnTheSender(String local, String remote, String port) {
    assertThat(RoceEntropy.V1.datagramPort(Integer.decode(local), Integer.decode(remote)))
        .isEqualTo(Integer.decode(port));
  }

  @ParameterizedTest
  @CsvSource({"0, 0, 0xC000", "4791, 4791, 0xC000", "0x1234, 0x0001, 0xD235", "65535, 0, 0xFFFF"})
  void version1ServicePortIsOfBothPorts(int destination, int source, String port) {
    assertThat(RoceEntropy.V1.servicePort(destination, source)).isEqualTo(Integer.decode(port));
  }

  @Test
  void version1HasNoFlowLabels() {
    assertThat(RoceEntropy.V1.flowLabel(0x123456, 0x654321)).isZero();
    assertThat(RoceEntropy.V1.serviceFlowLabel(7471, 50_000)).isZero();
  }

  @ParameterizedTest
  @CsvSource({
    "0, 0, 0",
    "0, 0xffffff, 0",
    "1, 1, 1",
    "0x48, 0x49, 0x01488",
    // 0x1000 * 0x100 = 0x100000: bit 20 comes down to bit 0.
    "0x1000, 0x100, 0x00001",
    // 0x100000 * 0x100000 = 2^40: to bit 20 by the first step, both to bit 0 by the second.
    "0x100000, 0x100000, 0x00001",
    // 0xfffffe000001; ^ 0xfffffe0 = 0xfffff1ffffe1; ^ 0xff = 0xfffff1ffff1e.
    "0xffffff, 0xffffff, 0xFFF1E",
  })
  void version2FlowLabelIsOfTheProduct(String local, String remote, String label) {
    assertThat(RoceEntropy.V2.flowLabel(Integer.decode(local), Integer.decode(remote)))
        .isEqualTo(Integer.decode(label));
  }

  @ParameterizedTest
  @CsvSource({
    "0, 0, 0",
    "4791, 0, 0",
    "1, 1, 1",
    // 0x100 * 0x100 = 0x10000; ^ 1 = 0x10001; ^ 0x100 = 0x10101.
    "0x100, 0x100, 0x10101",
    // 0xfffe0001; ^ 0xfffe = 0xfffeffff; ^ 0xfffeff = 0xff010100.
    "0xffff, 0xffff, 0x10100",
  })
  void version2ServiceFlowLabelIsOfTheProductOfThePorts(
      String destination, String source, String label) {
    assertThat(RoceEntropy.V2.serviceFlowLabel(Integer.decode(destination), Integer.decode(source)))
        .isEqualTo(Integer.decode(label));
  }

  @ParameterizedTest
  @CsvSource({
    "0, 0xC000",
    "1, 0xC001",
    "0x03fff, 0xFFFF",
    "0x04000, 0xC001",
    "0xfc000, 0xC03F",
    "0xfffff, 0xFFC0",
    "0xFFF1E, 0xFF21",
  })
  void portOfAFlowLabelFoldsItsUpperSixBits(String label, String port) {
    assertThat(RoceEntropy.portOf(Integer.decode(label))).isEqualTo(Integer.decode(port));
  }

  @ParameterizedTest
  @EnumSource
  void bothEndsComputeTheSameValuesWithinTheirRanges(RoceEntropy entropy) {
    SplittableRandom random = new SplittableRandom(20_200_108);
    for (int i = 0; i < 100_000; i++) {
      int bits = 1 + random.nextInt(24);
      int local = random.nextInt(1 << bits);
      int remote = random.nextInt(1 << 1 + random.nextInt(24));
      String what = "0x%06x and 0x%06x".formatted(local, remote);
      assertThat(entropy.connectionPort(local, remote))
          .as(what)
          .isBetween(0xc000, 0xffff)
          .isEqualTo(entropy.connectionPort(remote, local));
      assertThat(entropy.datagramPort(local, remote)).as(what).isBetween(0xc000, 0xffff);
      if (local != 0xff_ffff && remote != 0xff_ffff) {
        assertThat(entropy.datagramPort(local, remote))
            .as(what)
            .isEqualTo(entropy.datagramPort(remote, local))
            .isEqualTo(entropy.connectionPort(local, remote));
      }
      assertThat(entropy.flowLabel(local, remote))
          .as(what)
          .isBetween(0, 0xf_ffff)
          .isEqualTo(entropy.flowLabel(remote, local));
      int port = local & 0xffff;
      int other = remote & 0xffff;
      assertThat(entropy.servicePort(port, other))
          .as(what)
          .isBetween(0xc000, 0xffff)
          .isEqualTo(entropy.servicePort(other, port));
      assertThat(entropy.serviceFlowLabel(port, other))
          .as(what)
          .isBetween(0, 0xf_ffff)
          .isEqualTo(entropy.serviceFlowLabel(other, port));
    }
  }

  @Test
  void version2PortsAreThoseOfItsFlowLabels() {
    SplittableRandom random = new SplittableRandom(4791);
    for (int i = 0; i < 10_000; i++) {
      int local = random.nextInt(1 << 24);
      int remote = random.nextInt(1 << 24);
      int port = RoceEntropy.portOf(RoceEntropy.V2.flowLabel(local, remote));
      assertThat(RoceEntropy.V2.connectionPort(local, remote)).isEqualTo(port);
      assertThat(RoceEntropy.V2.datagramPort(local, remote)).isEqualTo(port);
    }
  }

  /** The purpose of entropy: connections of neighboring numbers use different paths. */
  @ParameterizedTest
  @EnumSource
  void connectionsToOnePeerSpread(RoceEntropy entropy) {
    Set<Integer> ports = new HashSet<>();
    for (int i = 0; i < 256; i++) {
      ports.add(entropy.connectionPort(0x48 + i, 0x51));
    }
    assertThat(ports).hasSizeGreaterThan(200);
  }
}
