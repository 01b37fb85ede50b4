package org.hghca.conformance.abi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.Mpt;
import org.hghca.abi.QueuePairContext;
import org.hghca.abi.WorkQueueLimits;
import org.hghca.abi.WriteMtt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The three readings of the card: S by the interface document, R1 and R2 by the observed behavior
 * of the makers' first and second RTL.
 */
class HardwareProfileTest {
  private static Arguments fact(
      String name, Function<HardwareProfile, Object> fact, Object s, Object r1, Object r2) {
    return Arguments.of(name, fact, s, r1, r2);
  }

  static Stream<Arguments> facts() {
    return Stream.of(
        fact("HCR in BAR0", HardwareProfile::hcrBase, 0x80000, 0x0, 0x0),
        fact("reset in BAR0", HardwareProfile::resetOffset, 0xf0010, 0xf10, 0xf10),
        fact("reset is connected", HardwareProfile::resetConnected, true, false, false),
        fact("status of NOP", HardwareProfile::nopStatus, 0x00, 0x02, 0x02),
        fact("RESIZE_CQ", HardwareProfile::resizeCq, true, false, false),
        fact("2RST without inbox", HardwareProfile::modifyQpWithoutInbox, true, false, false),
        fact("QUERY_QP after traffic", HardwareProfile::queryQpReliable, true, false, false),
        fact("misplaced PSNs", HardwareProfile::misplacesSequenceNumbers, false, true, false),
        fact("SQD and SQE", HardwareProfile::sqdSqeStates, true, false, false),
        fact("events and interrupts", HardwareProfile::eventQueues, true, false, false),
        fact("CQC stride", HardwareProfile::cqcEntrySize, 128, 64, 128),
        fact("EQC stride", HardwareProfile::eqcEntrySize, 64, 64, 128),
        fact("ICM may be unmapped", HardwareProfile::icmReclaim, true, false, false),
        fact("the MPT is mapped whole", HardwareProfile::mptMappedWhole, false, true, true),
        fact("the MTT is mapped whole", HardwareProfile::mttMappedWhole, false, true, false),
        fact("bits of a key's index", HardwareProfile::keyIndexBits, 0, 15, 0),
        fact("overtaking", HardwareProfile::doorbellsOvertakeCommands, false, true, true),
        fact("positions resumable", HardwareProfile::positionsResumable, false, true, false),
        fact("bad requests fail", HardwareProfile::badRequestsReported, true, false, false),
        fact("zero length", HardwareProfile::zeroLength, true, false, false),
        fact("atomics", HardwareProfile::atomics, true, false, false),
        fact("UD inline", HardwareProfile::inlineOnUd, true, true, false),
        fact("GRH in the buffer", HardwareProfile::grhPlaced, true, false, false),
        fact("SEND with immediate", HardwareProfile::sendImmediate, true, false, false),
        fact("immediate arrives", HardwareProfile::immediateDelivered, true, false, false),
        fact("MR bounds", HardwareProfile::remoteBoundsGranularity, 1, 4096, 4096),
        fact("destinations", HardwareProfile::destinationAlignment, 1, 32, 32),
        fact("complete transport", HardwareProfile::completeTransport, true, false, false),
        fact("retries, time-outs", HardwareProfile::rnrAndTimeoutInHardware, true, false, false),
        fact("INIT acknowledges", HardwareProfile::initAcknowledges, false, true, false),
        fact("owner in a CQE", HardwareProfile::cqeOwner, 0x00, 0x00, 0x80),
        fact("receive's offset in", HardwareProfile::receiveCqeUnit, 1, 1, 16),
        fact("error CQEs", HardwareProfile::errorCqes, true, true, false),
        fact("syndrome at 10h", HardwareProfile::errorCqeHasSyndrome, true, false, false),
        fact("flush at ERR", HardwareProfile::flushesInHardware, true, false, false));
  }

  @ParameterizedTest(name = "{0}: {2}, {3}, {4}")
  @MethodSource("facts")
  void profilesHoldTheFactsOfTheirSource(
      String name, Function<HardwareProfile, Object> fact, Object s, Object r1, Object r2) {
    assertThat(fact.apply(HardwareProfile.S)).as("%s of S", name).isEqualTo(s);
    assertThat(fact.apply(HardwareProfile.R1)).as("%s of R1", name).isEqualTo(r1);
    assertThat(fact.apply(HardwareProfile.R2)).as("%s of R2", name).isEqualTo(r2);
  }

  @Test
  void firstRtlHoldsThisManyPagesOfEachTable() {
    assertThat(HardwareProfile.R1.qpcCapacityPages()).isEqualTo(1024);
    assertThat(HardwareProfile.R1.cqcCapacityPages()).isEqualTo(256);
    assertThat(HardwareProfile.R1.eqcCapacityPages()).isEqualTo(1);
    assertThat(HardwareProfile.R1.mptCapacityPages()).isEqualTo(512);
    assertThat(HardwareProfile.R1.mttCapacityPages()).isEqualTo(512);
  }

  @Test
  void secondRtlHoldsThisManyPagesAnd256QueuesOfEachKind() {
    assertThat(HardwareProfile.R2.qpcCapacityPages()).isEqualTo(16); // 256 contexts of 256 bytes
    assertThat(HardwareProfile.R2.cqcCapacityPages()).isEqualTo(8); // 256 contexts of 128 bytes
    assertThat(HardwareProfile.R2.mptCapacityPages()).isEqualTo(8192); // 512 Ki entries of 64
    assertThat(HardwareProfile.R2.mttCapacityPages()).isEqualTo(8192); // 4 Mi entries of 8
    assertThat(HardwareProfile.R2.qpnLimit()).isEqualTo(256);
    assertThat(HardwareProfile.R2.cqnLimit()).isEqualTo(256);
  }

  @Test
  void rtlFetchesReceiveRingsInPiecesOfThisSize() {
    assertThat(HardwareProfile.R1.minReceiveQueueBytes()).isEqualTo(512);
    assertThat(HardwareProfile.R2.minReceiveQueueBytes()).isEqualTo(1024);
  }

  @Test
  void firstRtlUsesTenBitsOfAQpnAndThirteenOfACqn() {
    assertThat(HardwareProfile.R1.qpnLimit()).isEqualTo(1024);
    assertThat(HardwareProfile.R1.cqnLimit()).isEqualTo(8192);
  }

  @Test
  void rtlMapsOneEntryPerCommand() {
    assertThat(HardwareProfile.R1.mapIcmMaxEntries()).isEqualTo(1);
    assertThat(HardwareProfile.R2.mapIcmMaxEntries()).isEqualTo(1);
    assertThat(HardwareProfile.R1.mapIcmMaxPagesPerEntry()).isEqualTo(1024);
    assertThat(HardwareProfile.R2.mapIcmMaxPagesPerEntry()).isEqualTo(1);
  }

  @Test
  void documentLimitsAMapIcmEntryByItsTwelveBits() {
    assertThat(HardwareProfile.S.mapIcmMaxPagesPerEntry()).isEqualTo(4095);
    assertThat(HardwareProfile.S.mapIcmMaxEntries()).isBetween(2, 256);
  }

  @Test
  void rtlKeepsRingPositionsAndDropsDoorbellsBeyond63() {
    assertThat(HardwareProfile.R1.positionsSurviveDestroy()).isTrue();
    assertThat(HardwareProfile.R2.positionsSurviveDestroy()).isTrue();
    assertThat(HardwareProfile.S.positionsSurviveDestroy()).isFalse();
    assertThat(HardwareProfile.R1.doorbellsInFlight()).isEqualTo(63);
    assertThat(HardwareProfile.R2.doorbellsInFlight()).isEqualTo(63);
    assertThat(HardwareProfile.S.doorbellsInFlight()).isEqualTo(HardwareProfile.UNBOUNDED);
  }

  @Test
  void allProfilesHaveTheSameEntriesAndLargestWorkQueue() {
    assertThat(QueuePairContext.ENTRY_SIZE).isEqualTo(256);
    assertThat(Mpt.ENTRY_SIZE).isEqualTo(64);
    assertThat(WriteMtt.ENTRY_SIZE).isEqualTo(8);
    assertThat(WriteMtt.MAX_ENTRIES).isEqualTo(255); // on the RTL 256 hang, 257 write nothing
    assertThat(WorkQueueLimits.MAX_BYTES).isEqualTo(0x100000);
    assertThat(WorkQueueLimits.MAX_WQE_BYTES).isEqualTo(512);
    assertThat(WorkQueueLimits.MAX_SGE).isEqualTo(16); // table 3-2-3, max_sg and max_sg_rq
  }

  @Test
  void profilesAreFoundByName() {
    assertThat(HardwareProfile.all())
        .isEqualTo(List.of(HardwareProfile.S, HardwareProfile.R1, HardwareProfile.R2));
    assertThat(HardwareProfile.byName("s")).isSameAs(HardwareProfile.S);
    assertThat(HardwareProfile.byName("r1")).isSameAs(HardwareProfile.R1);
    assertThat(HardwareProfile.byName("r2")).isSameAs(HardwareProfile.R2);
    assertThatThrownBy(() -> HardwareProfile.byName("r3"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("r1");
  }
}
