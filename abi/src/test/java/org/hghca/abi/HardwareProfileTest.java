package org.hghca.abi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HardwareProfileTest {
  @Test
  void profilesAreFoundByName() {
    assertThat(HardwareProfile.byName("s")).isSameAs(HardwareProfile.S).hasToString("s");
    assertThat(HardwareProfile.byName("r1")).isSameAs(HardwareProfile.R1).hasToString("r1");
    assertThat(HardwareProfile.byName("r2")).isSameAs(HardwareProfile.R2).hasToString("r2");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "S", "r3", "rtl"})
  void unknownNameIsRefusedWithTheKnownOnes(String name) {
    assertThatThrownBy(() -> HardwareProfile.byName(name))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("unknown hardware profile \"" + name + "\"; known are s, r1 and r2");
  }

  @Test
  void registersAreWhereTable312AndTheRtlPutThem() {
    expect(HardwareProfile::hcrBase, 0x80000, 0x0, 0x0);
    expect(HardwareProfile::resetOffset, 0xf0010, 0xf10, 0xf10);
    expect(HardwareProfile::resetConnected, true, false, false);
  }

  @Test
  void commandsThatHangTheRtlAreMarked() {
    expect(HardwareProfile::nopStatus, 0x00, 0x02, 0x02);
    expect(HardwareProfile::resizeCq, true, false, false);
    expect(HardwareProfile::modifyQpWithoutInbox, true, false, false);
    expect(HardwareProfile::queryQpReliable, true, false, false);
    expect(HardwareProfile::misplacesSequenceNumbers, false, true, false);
    expect(HardwareProfile::doorbellsOvertakeCommands, false, true, true);
    expect(HardwareProfile::initAcknowledges, false, true, false);
    expect(HardwareProfile::sqdSqeStates, true, false, false);
    expect(HardwareProfile::eventQueues, true, false, false);
  }

  @Test
  void icmHasTheStridesAndCapacitiesOfEachReading() {
    expect(HardwareProfile::cqcEntrySize, 128, 64, 128);
    expect(HardwareProfile::eqcEntrySize, 64, 64, 128);
    expect(HardwareProfile::mapIcmMaxEntries, 16, 1, 1);
    expect(HardwareProfile::mapIcmMaxPagesPerEntry, 4095, 1024, 1);
    int unbounded = Integer.MAX_VALUE;
    expect(HardwareProfile::qpcCapacityPages, unbounded, 1024, 16);
    expect(HardwareProfile::cqcCapacityPages, unbounded, 256, 8);
    expect(HardwareProfile::eqcCapacityPages, unbounded, 1, 1);
    expect(HardwareProfile::mptCapacityPages, unbounded, 512, 8192);
    expect(HardwareProfile::mttCapacityPages, unbounded, 512, 8192);
    expect(HardwareProfile::icmReclaim, true, false, false);
    expect(HardwareProfile::mptMappedWhole, false, true, true);
    expect(HardwareProfile::mttMappedWhole, false, true, false);
    expect(HardwareProfile::keyIndexBits, 0, 15, 0);
    assertThat(QueuePairContext.ENTRY_SIZE).isEqualTo(256);
    assertThat(Mpt.ENTRY_SIZE).isEqualTo(64);
    assertThat(WriteMtt.ENTRY_SIZE).isEqualTo(8);
    assertThat(WriteMtt.MAX_ENTRIES).isEqualTo(255); // on the RTL 256 hang, 257 write nothing
  }

  @Test
  void numbersHaveTheLimitsOfTheTables() {
    expect(HardwareProfile::qpnLimit, 0x1000000, 1024, 256);
    expect(HardwareProfile::cqnLimit, 0x1000000, 8192, 256);
    expect(HardwareProfile::positionsSurviveDestroy, false, true, true);
    expect(HardwareProfile::positionsResumable, false, true, false);
  }

  @Test
  void workQueuesHaveTheirGeometry() {
    expect(HardwareProfile::minReceiveQueueBytes, 512, 512, 1024);
    assertThat(WorkQueueLimits.MAX_BYTES).isEqualTo(0x100000);
    assertThat(WorkQueueLimits.MAX_WQE_BYTES).isEqualTo(512);
    assertThat(WorkQueueLimits.MAX_SGE).isEqualTo(16); // table 3-2-3, max_sg and max_sg_rq
    expect(HardwareProfile::doorbellsInFlight, Integer.MAX_VALUE, 63, 63);
    expect(HardwareProfile::fences, true, false, false);
    expect(HardwareProfile::requestsOutstanding, Integer.MAX_VALUE, 1, 1);
    expect(HardwareProfile::requestsInFlight, Integer.MAX_VALUE, 40, 63);
    expect(HardwareProfile::readBytesInFlight, Integer.MAX_VALUE, 896, Integer.MAX_VALUE);
    expect(HardwareProfile::readPiece, Integer.MAX_VALUE, 512, Integer.MAX_VALUE);
    expect(HardwareProfile::bytesInFlightBesideRead, Integer.MAX_VALUE, 4096, Integer.MAX_VALUE);
    expect(HardwareProfile::psnWraps, true, false, false);
    expect(HardwareProfile::readsCrossPsnWrap, true, true, false);
  }

  @Test
  void transfersHaveTheirLimits() {
    expect(HardwareProfile::badRequestsReported, true, false, false);
    expect(HardwareProfile::sendImmediate, true, false, false);
    expect(HardwareProfile::zeroLength, true, false, false);
    expect(HardwareProfile::emptyReceives, true, false, false);
    expect(HardwareProfile::atomics, true, false, false);
    expect(HardwareProfile::inlineOnUd, true, true, false);
    expect(HardwareProfile::grhPlaced, true, false, false);
    expect(HardwareProfile::completeTransport, true, false, false);
    expect(HardwareProfile::immediateDelivered, true, false, false);
    expect(HardwareProfile::remoteBoundsGranularity, 1, 4096, 4096);
    expect(HardwareProfile::destinationAlignment, 1, 32, 32);
    expect(HardwareProfile::rnrAndTimeoutInHardware, true, false, false);
  }

  @Test
  void completionsMatchEachReading() {
    expect(HardwareProfile::cqeOwner, 0x00, 0x00, 0x80);
    expect(HardwareProfile::receiveCqeUnit, 1, 1, 16);
    expect(HardwareProfile::errorCqes, true, true, false);
    expect(HardwareProfile::errorCqeHasSyndrome, true, false, false);
    expect(HardwareProfile::flushesInHardware, true, false, false);
  }

  @Test
  void barsHaveTheSizesOfTable311() {
    assertThat(Bar.BAR0).isZero();
    assertThat(Bar.BAR2).isEqualTo(2);
    assertThat(Bar.BAR0_SIZE).isEqualTo(0x100000);
    assertThat(Bar.BAR2_SIZE).isEqualTo(0x800000);
    assertThat(Bar.UAR_PAGE_SIZE).isEqualTo(4096);
    assertThat(Bar.UAR_PAGES).isEqualTo(2048);
    assertThat(Bar.uarPageOffset(0x7ff)).isEqualTo(0x7ff000L);
    assertThat(Bar.FORBIDDEN_RTL_FIRST).isEqualTo(0x10000);
    assertThat(Bar.FORBIDDEN_RTL_LAST).isEqualTo(0x9ffff);
  }

  private static <T> void expect(Function<HardwareProfile, T> value, T s, T r1, T r2) {
    assertThat(value.apply(HardwareProfile.S)).as("s").isEqualTo(s);
    assertThat(value.apply(HardwareProfile.R1)).as("r1").isEqualTo(r1);
    assertThat(value.apply(HardwareProfile.R2)).as("r2").isEqualTo(r2);
  }
}
