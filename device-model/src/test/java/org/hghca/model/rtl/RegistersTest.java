package org.hghca.model.rtl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.model.rtl.Bench.OK;

import org.hghca.abi.Bar;
import org.hghca.abi.Hcr;
import org.hghca.abi.HcrCommand;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** BAR0 of the RTL. */
class RegistersTest {
  private static final int ALL_ONES = -1;

  private final Bench bench = new Bench();

  @AfterEach
  void close() {
    bench.close();
  }

  private long read(long offset, int width) {
    return bench.card.read(Bar.BAR0, offset, width);
  }

  @Test
  void lowHalfOfTheTokenDoesNotExist() {
    bench.writeInt(Hcr.TOKEN, 0xa55a_1234);
    assertThat(bench.readInt(Hcr.TOKEN)).isEqualTo(0xa55a_0000);
  }

  @Test
  void statusBitsWrittenBySoftwareAreStored() {
    bench.writeInt(Hcr.COMMAND, 0xff00_0003);
    assertThat(bench.readInt(Hcr.COMMAND)).isEqualTo(0xff00_0003);
  }

  @Test
  void nopIsUnknownAndKeepsItsOpModifier() {
    bench.writeInt(Hcr.COMMAND, 0x0080_5031);
    assertThat(bench.readInt(Hcr.COMMAND)).isEqualTo(0x0200_5031);
  }

  @Test
  void endOfACommandKeepsTheEventBitAndClearsOutParam() {
    bench.writeInt(Hcr.OUT_PARAM_LOW, (int) Bench.OUTBOX);
    bench.writeInt(Hcr.COMMAND, 0x00c0_0003);
    assertThat(bench.readInt(Hcr.COMMAND)).isEqualTo(0x0040_0003);
    assertThat(bench.readInt(Hcr.OUT_PARAM_LOW)).isZero();
    bench.writeInt(Hcr.OUT_PARAM_HIGH, 7);
    bench.writeInt(Hcr.COMMAND, 0x0080_0031);
    assertThat(bench.readInt(Hcr.OUT_PARAM_HIGH)).isZero();
  }

  @Test
  void storeOfEightBytesIsIgnored() {
    bench.writeInt(Hcr.IN_PARAM_HIGH, 0x0102_0304);
    bench.card.write(Bar.BAR0, Hcr.IN_PARAM_HIGH, 8, 0xbbbb_bbbb_aaaa_aaaaL);
    assertThat(bench.readInt(Hcr.IN_PARAM_HIGH)).isEqualTo(0x0102_0304);
    assertThat(bench.readInt(Hcr.IN_PARAM_LOW)).isZero();
  }

  @Test
  void loadOfEightBytesReturnsTheRegisterAndZero() {
    bench.writeInt(Hcr.IN_PARAM_HIGH, 0x8182_8384);
    bench.writeInt(Hcr.IN_PARAM_LOW, 0x1234_5678);
    assertThat(read(Hcr.IN_PARAM_HIGH, 8)).isEqualTo(0x8182_8384L);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void narrowStoreChangesNothingAndShiftsLoads(int width) {
    bench.writeInt(Hcr.IN_PARAM_LOW, 0x1111_1111);
    bench.writeInt(Hcr.IN_MODIFIER, 0x2222_2222);
    bench.writeInt(Hcr.TOKEN, 0x3333_0000);
    bench.card.write(Bar.BAR0, Hcr.IN_PARAM_LOW, width, 0xee);
    assertThat(bench.readInt(Hcr.IN_MODIFIER)).isEqualTo(0x1111_1111);
    assertThat(bench.readInt(Hcr.TOKEN)).isEqualTo(0x2222_2222);
    assertThat(bench.readInt(Hcr.COMMAND)).isEqualTo(0x3333_0000);
    bench.card.reset();
    bench.writeInt(Hcr.IN_MODIFIER, 5);
    assertThat(bench.readInt(Hcr.IN_MODIFIER)).isEqualTo(5);
  }

  @ParameterizedTest
  @ValueSource(ints = {Bar.RESET_RTL, Bar.RESET_DOCUMENT})
  void noRegisterResetsTheCard(int reset) {
    bench.writeInt(Hcr.IN_MODIFIER, 5);
    bench.writeInt(reset, 1);
    assertThat(bench.readInt(Hcr.IN_MODIFIER)).isEqualTo(5);
    assertThat(bench.readInt(reset)).isZero();
  }

  @ParameterizedTest
  @ValueSource(ints = {0xf20, 0x1c, 0x20, 0xf0, 0xffc, 0x1000, 0x5000, 0xa0000, 0xf0000, 0xffffc})
  void unusedAddressReadsZeroAndIgnoresStores(int offset) {
    bench.writeInt(offset, ALL_ONES);
    assertThat(bench.readInt(offset)).isZero();
    assertThat(bench.card.hazards()).isEmpty();
  }

  @Test
  void tableOfInterruptMessagesIsMemory() {
    bench.writeInt(0x5400, 0xfee0_0000);
    bench.writeInt(0x57fc, 1);
    assertThat(bench.readInt(0x5400)).isEqualTo(0xfee0_0000);
    assertThat(bench.readInt(0x57fc)).isEqualTo(1);
    bench.card.reset();
    assertThat(bench.readInt(0x5400)).isZero();
  }

  @Test
  void twoLoadsAndAStoreOfThePortAreAbsorbed() {
    assertThat(bench.readInt(Bar.HCR_DOCUMENT + Hcr.COMMAND)).isEqualTo(ALL_ONES);
    assertThat(bench.readInt(0x10000)).isEqualTo(ALL_ONES);
    bench.writeInt(0x9fffc, 1);
    assertThat(bench.command(HcrCommand.QUERY_DEV_LIM, 0, 0)).isEqualTo(OK);
    assertThat(bench.card.hazards()).hasSize(3).allMatch(hazard -> hazard.startsWith("12.11: "));
  }

  @Test
  void thirdLoadOfThePortBlocksAllRegisters() {
    for (int i = 0; i < 3; i++) {
      assertThat(bench.readInt(Bar.HCR_DOCUMENT)).isEqualTo(ALL_ONES);
    }
    assertBlocked();
  }

  @Test
  void seventhStoreToThePortBlocksAllRegisters() {
    for (int i = 0; i < 6; i++) {
      bench.writeInt(Bar.HCR_DOCUMENT + 4 * i, 1);
    }
    assertThat(bench.readInt(Hcr.COMMAND)).isZero();
    bench.writeInt(Bar.HCR_DOCUMENT + Hcr.COMMAND, 1);
    assertBlocked();
  }

  private void assertBlocked() {
    bench.writeInt(Hcr.IN_MODIFIER, 5);
    bench.ringDoorbell(0);
    assertThat(bench.readInt(Hcr.COMMAND)).isEqualTo(ALL_ONES);
    assertThat(read(Hcr.IN_MODIFIER, 8)).isEqualTo(ALL_ONES);
    assertThat(bench.card.counters().doorbells()).isZero();
    bench.card.reset();
    assertThat(bench.readInt(Hcr.IN_MODIFIER)).isZero();
  }

  @Test
  void loadOfAUarPageIsNeverAnswered() {
    assertThat(bench.card.read(Bar.BAR2, 0x3000, 8)).isEqualTo(ALL_ONES);
    assertThat(bench.card.hazards())
        .containsExactly("12.11: read of BAR2+0x3000 is never answered");
    assertThat(bench.command(HcrCommand.QUERY_DEV_LIM, 0, 0)).isEqualTo(OK);
  }
}
