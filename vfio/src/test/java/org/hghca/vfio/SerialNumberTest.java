package org.hghca.vfio;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** The extended capability 0003h, as PCI Express defines it and network cards fill it. */
class SerialNumberTest {

  /** Registers by their offset; all others read as a default. */
  private record Registers(Map<Integer, Integer> values, int otherwise)
      implements ConfigurationSpace {
    @Override
    public int read(int offset, int width) {
      assertThat(width).isEqualTo(4);
      assertThat(offset).isBetween(0x100, 4092);
      return values.getOrDefault(offset, otherwise);
    }

    @Override
    public void write(int offset, int width, int value) {
      throw new AssertionError("written at " + offset);
    }
  }

  private static OptionalLong mac(Map<Integer, Integer> registers) {
    return SerialNumber.mac(new Registers(registers, 0));
  }

  @Test
  void macOfACardIsInItsSerialNumber() {
    // lspci: Device Serial Number 00-1b-21-ff-ff-aa-bb-cc
    assertThat(mac(Map.of(0x100, 0x0001_0003, 0x104, 0xffaa_bbcc, 0x108, 0x001b_21ff)))
        .hasValue(0x001b_21aa_bbccL);
  }

  @Test
  void bothFillersAreKnown() {
    assertThat(mac(Map.of(0x100, 0x0001_0003, 0x104, 0xfeaa_bbcc, 0x108, 0x001b_21ff)))
        .hasValue(0x001b_21aa_bbccL);
  }

  @Test
  void capabilityMayFollowOthers() {
    assertThat(
            mac(
                Map.of(
                    0x100,
                    0x1401_0001,
                    0x140,
                    0x2001_0018,
                    0x200,
                    0x0001_0003,
                    0x204,
                    0xff00_0001,
                    0x208,
                    0x0200_00ff)))
        .hasValue(0x0200_0000_0001L);
  }

  @Test
  void otherSerialNumbersAreNoMac() {
    assertThat(mac(Map.of())).isEmpty();
    assertThat(mac(Map.of(0x100, 0x0001_0003))).isEmpty();
    assertThat(mac(Map.of(0x100, 0x0001_0003, 0x104, 0x1234_5678, 0x108, 0x9abc_def0))).isEmpty();
    assertThat(mac(Map.of(0x100, 0x0001_0003, 0x104, 0xff00_0000, 0x108, 0xff))).isEmpty();
    assertThat(mac(Map.of(0x100, 0x0001_0003, 0x104, 0xff00_0001, 0x108, 0x0100_00ff)))
        .as("a group address")
        .isEmpty();
  }

  @Test
  void removedFunctionHasNoSerialNumber() {
    assertThat(SerialNumber.mac(new Registers(Map.of(), -1))).isEmpty();
  }

  @Test
  void cyclicCapabilityListEnds() {
    assertThat(mac(Map.of(0x100, 0x1401_0001, 0x140, 0x1001_0018))).isEmpty();
  }

  @Test
  void serialNumberOfAMacIsReadBack() {
    int[] registers = SerialNumber.registers(0x0292_bb77_5301L);

    assertThat(registers).containsExactly(0x0001_0003, 0xff77_5301, 0x0292_bbff);
    assertThat(mac(Map.of(0x100, registers[0], 0x104, registers[1], 0x108, registers[2])))
        .hasValue(0x0292_bb77_5301L);
  }
}
