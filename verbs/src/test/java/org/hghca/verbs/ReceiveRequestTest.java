package org.hghca.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.hghca.verbs.Failures.assertErrno;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ReceiveRequestTest {
  private static final FakeRegion REGION = new FakeRegion(0x7000_0000_1000L, 4096, 0x5a);

  private final ReceiveRequest request = new ReceiveRequest();

  private void assertElement(int index, long address, int length, int lkey) {
    assertThat(request.sgeAddress(index)).isEqualTo(address);
    assertThat(request.sgeLength(index)).isEqualTo(length);
    assertThat(request.sgeLkey(index)).isEqualTo(lkey);
  }

  @Test
  void intoStartsEmptyAndKeepsTheWrId() {
    request.wrId(-7).into(REGION).sge(REGION, 1, 2);

    request.into(REGION, 16, 100);

    assertThat(request.wrId()).isEqualTo(-7);
    assertThat(request.sgeCount()).isOne();
    assertElement(0, 0x7000_0000_1010L, 100, 0x5a);
  }

  @Test
  void emptyRemovesTheElements() {
    request.wrId(3).into(REGION).empty();

    assertThat(request.sgeCount()).isZero();
    assertThat(request.wrId()).isEqualTo(3);
  }

  @Test
  void elementsComeInOrder() {
    request.into(REGION).sge(REGION, 8, 8).sge(-8, Integer.MAX_VALUE, -1);

    assertThat(request.sgeCount()).isEqualTo(3);
    assertElement(0, 0x7000_0000_1000L, 4096, 0x5a);
    assertElement(1, 0x7000_0000_1008L, 8, 0x5a);
    assertElement(2, -8, Integer.MAX_VALUE, -1);
  }

  @ParameterizedTest
  @CsvSource({"-1,1", "0,4097", "1,4096", "4096,1", "0,-1", "9223372036854775807,1"})
  void partBeyondTheRegionIsRefused(long offset, long length) {
    assertThatThrownBy(() -> request.into(REGION, offset, length))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThat(request.sgeCount()).isZero();
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, 1L << 31, Long.MAX_VALUE})
  void elementLongerThan31BitsIsRefused(long length) {
    assertErrno(Errno.EINVAL, () -> request.sge(0x1000, length, 1))
        .hasMessageContainingAll(length + " bytes", "2^31 - 1");
  }

  @Test
  void sixteenElementsFitByDefault() {
    for (int i = 0; i < 16; i++) {
      request.sge(REGION, i, 1);
    }

    assertFull(request, 16);
    assertFull(new ReceiveRequest(2).into(REGION).sge(REGION, 0, 1), 2);
  }

  private static void assertFull(ReceiveRequest request, int room) {
    assertErrno(Errno.EINVAL, () -> request.sge(REGION, 0, 1))
        .hasMessageContaining("room for " + room);
    assertThat(request.sgeCount()).isEqualTo(room);
  }
}
