package org.hghca.virtio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.hghca.virtio.VirtioException.Reason;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The capabilities of a device, right and wrong. */
class StructuresTest extends FakeDeviceFixture {
  @Test
  void structuresAreFound() {
    Structures structures = Structures.find(function);
    assertThat(structures.common().base()).isEqualTo(0);
    assertThat(structures.interruptStatus().base()).isEqualTo(0x1000);
    assertThat(structures.device().orElseThrow().base()).isEqualTo(0x2000);
    assertThat(structures.device().orElseThrow().length()).isEqualTo(32);
    assertThat(structures.notifications().base()).isEqualTo(0x3000);
    assertThat(structures.multiplier()).isEqualTo(4);
    assertThat(structures.all())
        .containsExactly(
            new RegisterStructure("common configuration", 4, 0, 0x1000),
            new RegisterStructure("interrupt status", 4, 0x1000, 0x1000),
            new RegisterStructure("device configuration", 4, 0x2000, 32),
            new RegisterStructure("notifications", 4, 0x3000, 0x1000));
  }

  @Test
  void firstUsableCapabilityOfATypeCounts() {
    // A type that only a later specification has, a BAR that none has, then two of one type.
    fake.space().put(0x41, (byte) 0xa8);
    fake.capability(0xa8, 0xb8, 16, 77, 4, 0, 0x1000);
    fake.capability(0xb8, 0xc8, 16, 1, 6, 0, 0x1000);
    fake.capability(0xc8, 0xd8, 16, 3, 4, 0x1800, 4);
    fake.capability(0xd8, 0x50, 16, 3, 4, 0x1900, 4);
    assertThat(Structures.find(function).interruptStatus().base()).isEqualTo(0x1800);
  }

  @Test
  void deviceWithoutConfigurationOfItsType() {
    fake.capability(0x70, 0x80, 16, 77, 4, 0, 0);
    assertThat(Structures.find(function).device()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"0x50, common configuration", "0x60, interrupt status", "0x80, notifications"})
  void missingStructureIsRefused(String at, String what) {
    fake.space().put(Integer.decode(at) + 3, (byte) 77);
    assertFailure(Reason.MALFORMED, () -> Structures.find(function)).withMessageContaining(what);
  }

  @Test
  void noCapabilitiesAtAll() {
    fake.space().putShort(6, (short) 0);
    assertFailure(Reason.MALFORMED, () -> Structures.find(function))
        .withMessageContaining("no capabilities");
  }

  @ParameterizedTest
  @ValueSource(ints = {0x40, 0x50, 0x80, 0x04, 0x3c})
  void listThatLeadsNowhereEnds(int next) {
    fake.space().put(0x99, (byte) next);
    assertFailure(Reason.MALFORMED, () -> Structures.find(function))
        .withMessageContaining("leads nowhere");
  }

  @Test
  void capabilityBeyondTheEndIsRefused() {
    fake.space().put(0x99, (byte) 0xf4).put(0xf4, (byte) 0x09);
    assertFailure(Reason.MALFORMED, () -> Structures.find(function)).withMessageContaining("0xf4");
    // A notification has four bytes more than there are.
    fake.space().put(0x83, (byte) 77).put(0x99, (byte) 0xf0);
    fake.capability(0xf0, 0, 20, 2, 4, 0x3000, 0x1000);
    assertFailure(Reason.MALFORMED, () -> Structures.find(function))
        .withMessageContaining("type 2 with 20 bytes");
  }

  @Test
  void shortCapabilityIsRefused() {
    fake.space().put(0x52, (byte) 12);
    assertFailure(Reason.MALFORMED, () -> Structures.find(function))
        .withMessageContaining("type 1 with 12 bytes");
    fake.space().put(0x52, (byte) 16).put(0x82, (byte) 16);
    assertFailure(Reason.MALFORMED, () -> Structures.find(function))
        .withMessageContaining("type 2 with 16 bytes");
  }

  @ParameterizedTest
  @CsvSource({
    "0x50, 1, 0, 55", // too short
    "0x50, 1, 2, 64", // misaligned
    "0x50, 1, 0x3fd0, 64", // beyond the end of the BAR
    "0x50, 1, 0xfffffffc, 0xffffffff",
    "0x80, 2, 0x3001, 0x100",
    "0x80, 2, 0x3000, 1",
    "0x60, 3, 0x4000, 1",
    "0x60, 3, 0x1000, 0",
    "0x70, 4, 0x2002, 8",
  })
  void structureMustLieInItsBar(String at, int type, String offset, String length) {
    int place = Integer.decode(at);
    int next = fake.pci[place + 1] & 0xff;
    fake.capability(
        place,
        next,
        type == 2 ? 20 : 16,
        type,
        4,
        (int) (long) Long.decode(offset),
        (int) (long) Long.decode(length));
    assertFailure(Reason.MALFORMED, () -> Structures.find(function))
        .withMessageContainingAll("structure of type " + type, "BAR4");
  }

  @Test
  void barThatTheFunctionLacksIsRefused() {
    fake.space().put(0x54, (byte) 2);
    assertFailure(Reason.MALFORMED, () -> Structures.find(function))
        .withMessageContaining("names BAR2, which it lacks");
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3, 6, -1})
  void multiplierIsZeroOrAnEvenPowerOfTwo(int multiplier) {
    fake.space().putInt(0x90, multiplier);
    assertFailure(Reason.MALFORMED, () -> Structures.find(function))
        .withMessageContaining("multiplies notifications");
  }

  @Test
  void accessBeyondAStructureIsRefused() {
    Window device = Structures.find(function).device().orElseThrow();
    assertThatThrownBy(() -> device.read(org.hghca.virtio.abi.Field.le32("behind", 32)))
        .isInstanceOf(IndexOutOfBoundsException.class)
        .hasMessageContainingAll("4 bytes at 32", "of 32");
  }
}
