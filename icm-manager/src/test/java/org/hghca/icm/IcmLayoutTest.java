package org.hghca.icm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.function.LongUnaryOperator;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.InitHca;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class IcmLayoutTest {
  static List<HardwareProfile> profiles() {
    return HardwareProfile.all();
  }

  @ParameterizedTest
  @MethodSource("profiles")
  void basesAreDistinctPageAlignedAndNotZero(HardwareProfile profile) {
    InitHca init = IcmFixture.layoutOnly(profile).initHca();

    List<Long> bases =
        List.of(init.qpcBase(), init.cqcBase(), init.eqcBase(), init.mptBase(), init.mttBase());
    assertThat(bases).doesNotHaveDuplicates().allMatch(base -> base != 0 && base % 4096 == 0);
  }

  @Test
  void tablesOfTheDocumentsCardDoNotOverlap() {
    InitHca init = IcmFixture.layoutOnly(HardwareProfile.S).initHca();

    // 2^14 QPCs of 256 bytes, 2^13 CQCs of 128, 2^5 EQCs of 64 in one page, 2^14 MPT entries of 64.
    assertThat(init.logQps()).isEqualTo(14);
    assertThat(init.logCqs()).isEqualTo(13);
    assertThat(init.logEqs()).isEqualTo(5);
    assertThat(init.logMpts()).isEqualTo(14);
    assertThat(init.cqcBase()).isGreaterThanOrEqualTo(init.qpcBase() + 0x40_0000);
    assertThat(init.eqcBase()).isGreaterThanOrEqualTo(init.cqcBase() + 0x10_0000);
    assertThat(init.mptBase()).isGreaterThanOrEqualTo(init.eqcBase() + 0x1000);
    assertThat(init.mttBase()).isGreaterThanOrEqualTo(init.mptBase() + 0x10_0000);
  }

  @Test
  void capacityComesFromDevLim() {
    IcmManager icm = IcmFixture.layoutOnly(HardwareProfile.S);

    assertThat(icm.capacity(IcmTable.QPC)).isEqualTo(16384);
    assertThat(icm.capacity(IcmTable.CQC)).isEqualTo(8192);
    assertThat(icm.capacity(IcmTable.EQC)).isEqualTo(32);
    assertThat(icm.capacity(IcmTable.MPT)).isEqualTo(16384);
    assertThat(icm.capacity(IcmTable.MTT)).isEqualTo(1L << 26);
  }

  @Test
  void mttOfTheFirstRtlHas512Pages() {
    assertThat(IcmFixture.layoutOnly(HardwareProfile.R1).capacity(IcmTable.MTT)).isEqualTo(262144);
  }

  @Test
  void secondRtlGetsTheLogarithmsOfItsRegionSizes() {
    InitHca init = IcmFixture.layoutOnly(HardwareProfile.R2).initHca();

    assertThat(init.logQps()).isEqualTo(8);
    assertThat(init.logCqs()).isEqualTo(8);
    // Its EQCs are 128 bytes apart, twice what DEV_LIM says: 32 of them still fill one page only.
    assertThat(init.logEqs()).isEqualTo(5);
    assertThat(init.mptBase()).isGreaterThanOrEqualTo(init.eqcBase() + 32 * 128);
  }

  @Test
  void nothingIsMappedBeforeInitHca() {
    IcmFixture fixture = IcmFixture.inactive(HardwareProfile.S, LongUnaryOperator.identity());

    assertThatThrownBy(() -> fixture.icm.reserve(IcmTable.QPC, 0, 1))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("INIT_HCA");
    assertThat(fixture.card.commands).isEmpty();
    assertThat(fixture.card.pages()).isZero();
  }

  @Test
  void tablesMapWithTheOpModifierOfTheirKind() {
    assertThat(IcmTable.QPC.opModifier()).isEqualTo(1);
    assertThat(IcmTable.CQC.opModifier()).isEqualTo(1);
    assertThat(IcmTable.EQC.opModifier()).isEqualTo(1);
    assertThat(IcmTable.MPT.opModifier()).isEqualTo(2);
    assertThat(IcmTable.MTT.opModifier()).isEqualTo(2);
  }
}
