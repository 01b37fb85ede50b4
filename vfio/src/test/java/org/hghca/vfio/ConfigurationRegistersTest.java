package org.hghca.vfio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What is in the configuration space of a function in software. */
class ConfigurationRegistersTest {
  private static final int CAPABILITY_POINTER = 0x34;

  private static ConfigurationRegisters.Builder builder() {
    return ConfigurationRegisters.of(0x1af4, 0x1041, 0x02_0000);
  }

  /** The capabilities in their order, each as its offset and its id. */
  private static List<List<Integer>> chain(ConfigurationRegisters registers) {
    List<List<Integer>> chain = new ArrayList<>();
    for (int at = registers.read(CAPABILITY_POINTER, 1); at != 0; ) {
      chain.add(List.of(at, registers.read(at, 1)));
      at = registers.read(at + 1, 1);
    }
    return chain;
  }

  @Test
  void onlyPciExpressIsAlwaysThere() {
    assertThat(chain(builder().build())).containsExactly(List.of(0x40, 0x10));
  }

  @Test
  void capabilitiesAreChainedInTheOrderOfTheirCalls() {
    ConfigurationRegisters registers =
        builder()
            .vendorCapability(new byte[13])
            .interrupts(4, 4, 0, 0x800)
            .vendorCapability((byte) 0x55, (byte) 0x66)
            .build();

    assertThat(chain(registers))
        .containsExactly(
            List.of(0x40, 0x10), List.of(0x8c, 0x09), List.of(0x80, 0x11), List.of(0x9c, 0x09));
    assertThat(registers.read(0x8e, 1)).isEqualTo(16);
    assertThat(registers.read(0x9e, 1)).isEqualTo(5);
    assertThat(registers.read(0x9f, 1)).isEqualTo(0x55);
    assertThat(registers.read(0xa0, 1)).isEqualTo(0x66);
  }

  @Test
  void capabilitiesEndBeforeTheExtendedOnes() {
    ConfigurationRegisters.Builder builder = builder();
    for (int i = 0; i < 7; i++) {
      builder.vendorCapability(new byte[13]);
    }

    assertThatThrownBy(() -> builder.vendorCapability(new byte[13]))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("16 bytes has no room at 0xfc");
  }

  @Test
  void revisionAndSubsystemAreReadOnly() {
    ConfigurationRegisters registers = builder().revision(1).subsystem(0x1af4, 0x40).build();
    registers.write(0x08, 1, 0xff);
    registers.write(0x2c, 4, -1);

    assertThat(registers.read(0x08, 4)).isEqualTo(0x0200_0001);
    assertThat(registers.read(0x2c, 4)).isEqualTo(0x0040_1af4);
  }

  /** Remembers accesses; a read returns what tells it. */
  private static final class Regions implements ConfigurationRegisters.Window {
    private final List<String> accesses = new ArrayList<>();

    @Override
    public long read(int bar, long offset, int width) {
      accesses.add("read %d+%x:%d".formatted(bar, offset, width));
      return 0xa1b2_c3d4L;
    }

    @Override
    public void write(int bar, long offset, int width, long value) {
      accesses.add("write %d+%x:%d=%x".formatted(bar, offset, width, value));
    }
  }

  @Test
  void aWindowAccessesTheRegions() {
    Regions regions = new Regions();
    ConfigurationRegisters registers = builder().window(5, regions).build();
    assertThat(registers.read(0x8f, 1)).isEqualTo(5);
    registers.write(0x90, 1, 2);
    registers.write(0x94, 4, 0x1004);
    registers.write(0x98, 4, 4);

    assertThat(registers.read(0x9c, 4)).isEqualTo(0xa1b2_c3d4);
    registers.write(0x9c, 4, 0x8000_0001);

    assertThat(regions.accesses).containsExactly("read 2+1004:4", "write 2+1004:4=80000001");
  }

  @Test
  void aWindowRefusesLengthsAndRegionsThatDoNotExist() {
    Regions regions = new Regions();
    ConfigurationRegisters registers = builder().window(5, regions).build();
    int[][] wrong = {{0, 0, 0}, {0, 0, 3}, {0, 0, 8}, {0, 2, 4}, {6, 0, 4}};
    for (int[] access : wrong) {
      registers.write(0x90, 1, access[0]);
      registers.write(0x94, 4, access[1]);
      registers.write(0x98, 4, access[2]);

      assertThat(registers.read(0x9c, 4)).isZero();
      registers.write(0x9c, 4, 1);
    }

    assertThat(regions.accesses).isEmpty();
  }
}
