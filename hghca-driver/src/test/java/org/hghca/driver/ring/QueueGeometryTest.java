package org.hghca.driver.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.hghca.driver.Failures.assertErrno;

import java.lang.foreign.MemorySegment;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import org.hghca.abi.DeviceLimits;
import org.hghca.abi.HardwareProfile;
import org.hghca.driver.card.Limits;
import org.hghca.verbs.Errno;
import org.hghca.verbs.QpType;
import org.hghca.verbs.QueuePairCapabilities;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class QueueGeometryTest {
  /** The makers' RTL's answer to QUERY_DEV_LIM: 2^13 WQEs, 16 elements, 512-byte descriptors. */
  private static final String DEV_LIM =
      "0100000000000000000d000d0e0d050e0c000001000800000100008000400040"
          + "005000f1000c0000001002000010020012345678876500000000000000000000";

  private final Limits limits =
      new Limits(
          DeviceLimits.decode(MemorySegment.ofArray(HexFormat.of().parseHex(DEV_LIM))),
          HardwareProfile.S,
          Set.of(),
          HardwareProfile.UNBOUNDED,
          HardwareProfile.UNBOUNDED);

  private QueueGeometry of(int send, int receive, int sendSge, int receiveSge, int inline) {
    return of(QpType.RC, send, receive, sendSge, receiveSge, inline);
  }

  private QueueGeometry of(
      QpType type, int send, int receive, int sendSge, int receiveSge, int inline) {
    return QueueGeometry.of(
        limits, type, new QueuePairCapabilities(send, receive, sendSge, receiveSge, inline));
  }

  @ParameterizedTest
  @CsvSource({
    // elements, inline, log2 of the stride: next and remote address unit, then the data
    "1, 0, 6",
    "2, 0, 6",
    "3, 0, 7",
    "6, 0, 7",
    "7, 0, 8",
    "14, 0, 8",
    "15, 0, 9",
    "16, 0, 9",
    "1, 28, 6",
    "1, 29, 7",
    "1, 92, 7",
    "1, 93, 8",
    "1, 220, 8",
    "1, 221, 9",
    "1, 476, 9"
  })
  void sendStrideHoldsTheLargestRequest(int elements, int inline, int strideLog) {
    assertThat(of(1, 1, elements, 1, inline).sendStrideLog()).isEqualTo(strideLog);
  }

  @ParameterizedTest
  @CsvSource({
    // elements, inline, log2 of the stride: next unit and 48 bytes of destination, then the data
    "1, 0, 7",
    "4, 0, 7",
    "5, 0, 8",
    "12, 0, 8",
    "13, 0, 9",
    "16, 0, 9",
    "1, 60, 7",
    "1, 61, 8",
    "1, 188, 8",
    "1, 189, 9",
    "1, 444, 9"
  })
  void destinationOfADatagramIsLongerThanARemoteAddress(int elements, int inline, int strideLog) {
    assertThat(of(QpType.UD, 1, 1, elements, 1, inline).sendStrideLog()).isEqualTo(strideLog);
  }

  @Test
  void descriptorHoldsLessInlineDataOfADatagram() {
    assertThatThrownBy(() -> of(QpType.UD, 1, 1, 1, 1, 445))
        .hasMessageContaining("maxInline 445")
        .hasMessageContaining("0 to 444");
  }

  @ParameterizedTest
  @CsvSource({"1, 6", "2, 6", "3, 7", "6, 7", "7, 8", "14, 8", "15, 9", "16, 9"})
  void receiveStrideHoldsTheTerminatorToo(int elements, int strideLog) {
    assertThat(of(1, 1, 1, elements, 0).receiveStrideLog()).isEqualTo(strideLog);
  }

  @ParameterizedTest
  @CsvSource({"1, 1", "2, 2", "3, 4", "128, 128", "129, 256", "8191, 8192"})
  void sendSlotsAreTheNextPowerOfTwo(int depth, int slots) {
    assertThat(of(depth, 1, 1, 1, 0).sendSlots()).isEqualTo(slots);
  }

  @ParameterizedTest
  @CsvSource({"1, 8", "7, 8", "8, 16", "127, 128", "128, 256", "8191, 8192"})
  void oneReceiveSlotStaysEmptyAndAQueueHas512Bytes(int depth, int slots) {
    assertThat(of(1, depth, 1, 1, 0).receiveSlots()).isEqualTo(slots);
  }

  @Test
  void queueOfMoreThanOneMegabyteIsRefused() {
    assertThat(of(2048, 1, 16, 1, 0).sendBytes()).isEqualTo(1 << 20);
    assertErrno(Errno.EINVAL, () -> of(2049, 1, 16, 1, 0))
        .hasMessageContaining("sendDepth 2049 with 16 elements")
        .hasMessageContaining("1048576");
    assertThatThrownBy(() -> of(1, 2048, 1, 16, 0)).hasMessageContaining("receiveDepth 2048");
  }

  @ParameterizedTest
  @CsvSource({
    "8192, 1, 1, 1, 0, sendDepth 8192",
    "1, 8192, 1, 1, 0, receiveDepth 8192",
    "-1, 1, 1, 1, 0, sendDepth -1",
    "1, 1, 17, 1, 0, maxSendSge 17",
    "1, 1, 1, 17, 0, maxReceiveSge 17",
    "1, 1, 1, 1, 477, maxInline 477"
  })
  void exceededLimitIsNamed(
      int send, int receive, int sendSge, int receiveSge, int inline, String name) {
    assertErrno(Errno.EINVAL, () -> of(send, receive, sendSge, receiveSge, inline))
        .hasMessageContaining(name);
  }

  @ParameterizedTest
  @CsvSource({
    // capacity, elements, depth: all of it, at most a ring of 1 MB less a slot
    "1, 1, 1",
    "3, 1, 3",
    "64, 1, 64",
    "8191, 2, 8191",
    "8191, 6, 8191",
    "8191, 16, 2047"
  })
  void shareOfASharedQueueIsAllOfItOrTheRoom(int capacity, int elements, int depth) {
    assertThat(QueueGeometry.shareDepth(limits, capacity, elements)).isEqualTo(depth);
    assertThat(of(0, depth, 0, elements, 0).receiveBytes()).isLessThanOrEqualTo(1 << 20);
  }

  @Test
  void cardsThatStopAtAnEmptyReceiveQueueShareNone() {
    assertThat(limits.maxSrq()).isEqualTo((1 << 14) - (1 << 1));
    assertThat(limits.maxSrqWr()).isEqualTo((1 << 13) - 1);
    assertThat(limits.maxSrqSge()).isEqualTo(16);
    for (HardwareProfile profile : List.of(HardwareProfile.R1, HardwareProfile.R2)) {
      Limits card = new Limits(limits.device(), profile, Set.of(), 1, 40);
      assertThat(card.maxSrq()).isZero();
      assertThat(card.maxSrqWr()).isZero();
      assertThat(card.maxSrqSge()).isZero();
    }
  }
}
