package org.hghca.model.virtio;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The commands of RoCE by literal bytes, from the RFC's layouts. */
class RoceCommandsTest extends RoceFixture {
  @Test
  void featureQueuesAndConfigurationAreThoseOfTheRfc() {
    assertThat(driver.status()).isEqualTo(15);
    assertThat(driver.features()).isEqualTo(0x0080_0103_3087_0028L);
    assertThat(driver.registers.readInt(GuestDriver.DEVICE + 24)).isEqualTo(128);
    assertThat(driver.registers.readInt(GuestDriver.DEVICE + 28)).isEqualTo(32);
    assertThat(driver.registers.readShort(18)).isEqualTo(3 + 32 + 2 * 128);
    assertThat(driver.function.configuration().read(0xb8, 4)).isEqualTo(32);
  }

  @Test
  void withoutTheFeatureTheClassIsUnknown() {
    driver.control.clear();
    driver.start(GuestDriver.ALL);
    assertThat(command(0, "", 129)).isEqualTo("01");
  }

  @Test
  void queries() {
    assertThat(command(0, "", 129))
        .isEqualTo(
            "00"
                + le(1, 0, 1 << 30, 0, 4096, 0, 0, 1024, 16, 16, 16, 4096, 4096, 1024, 16, 16, 1024)
                + "0f"
                + "00".repeat(59));
    assertThat(command(1, "", 33)).isEqualTo("00" + le(16, 1 << 31) + "00".repeat(24));
  }

  @Test
  void aShortAnswerOrCommandIsRefused() {
    assertThat(command(0, "", 128)).isEqualTo("01");
    assertThat(command(2, "000000", 5)).isEqualTo("01");
    assertThat(command(18, "", 5)).isEqualTo("01");
    assertThat(command(255, "", 5)).isEqualTo("01");
    assertThat(driver.status()).isEqualTo(15);
  }

  @Test
  void aDomainStaysAsLongAsItIsUsed() {
    int pd = pd();
    String keys = command(7, register(pd, 1, 0, 4096, 0x1000), 13);
    assertThat(keys).startsWith("00").endsWith("00000000"); // no rkey
    assertThat(does(5, le(pd))).isFalse();
    assertThat(does(8, keys.substring(2, 10))).isTrue();
    assertThat(does(8, keys.substring(2, 10))).isFalse();
    assertThat(does(5, le(pd))).isTrue();
    assertThat(does(5, le(pd))).isFalse();
    assertThat(does(5, le(-1))).isFalse();
  }

  /** 0 stands for a region that grants nothing to peers. */
  @Test
  void noKeyIsZero() {
    for (int lower = 0; lower < 256; lower++) {
      assertThat(RoceObjects.key(0, lower)).isNotZero();
    }
  }

  /** Start, length, and the pages that are right for it. */
  @ParameterizedTest
  @CsvSource({"0x1000, 4096, 1", "0x1fff, 2, 2", "0x1001, 4096, 2", "0, 1, 1", "-4096, 4096, 1"})
  void aRegionHasThePagesThatItTouches(long start, long length, int pages) {
    int pd = pd();
    long[] list = new long[pages];
    assertThat(command(7, register(pd, 7, start, length, list), 13)).startsWith("00");
    assertThat(command(7, register(pd, 7, start, length, new long[pages + 1]), 13))
        .isEqualTo("01" + "00".repeat(12));
    assertThat(command(7, register(pd, 7, start, length, new long[pages - 1]), 13))
        .isEqualTo("01" + "00".repeat(12));
  }

  @Test
  void impossibleRegionsAreRefused() {
    int pd = pd();
    String refused = "01" + "00".repeat(12);
    assertThat(command(7, register(pd, 8, 0, 4096, 0), 13)).isEqualTo(refused);
    assertThat(command(7, register(pd + 1, 1, 0, 4096, 0), 13)).isEqualTo(refused);
    assertThat(command(7, register(pd, 1, 0, 0, 0), 13)).isEqualTo(refused);
    assertThat(command(7, register(pd, 1, 0, 4096, 8), 13)).isEqualTo(refused);
    assertThat(command(7, register(pd, 1, -1, 2, 0, 0), 13)).isEqualTo(refused);
    assertThat(command(7, register(pd, 1, 0, -1, 0), 13)).isEqualTo(refused);
    String without = register(pd, 1, 0, 4096, 0);
    assertThat(command(7, without.substring(0, 64), 13)).isEqualTo(refused); // no list behind it
    assertThat(command(6, le(pd, 1), 13)).isEqualTo(refused); // all memory
    assertThat(does(5, le(pd))).isTrue();
  }

  @Test
  void aCqStaysAsLongAsItIsUsed() {
    int pd = pd();
    int cq = create(2, le(4096));
    int qp = create(9, createQp(pd, 2, cq, cq, 512));
    assertThat(qp).isBetween(2, 127);
    assertThat(does(3, le(cq))).isFalse();
    assertThat(does(5, le(pd))).isFalse();
    assertThat(does(12, le(qp))).isTrue();
    assertThat(does(12, le(qp))).isFalse();
    assertThat(does(3, le(cq))).isTrue();
    assertThat(create(2, le(1))).isEqualTo(cq + 1); // not the number that was just freed
    assertThat(command(2, le(0), 5)).isEqualTo("01" + "00".repeat(4));
    assertThat(command(2, le(4097), 5)).isEqualTo("01" + "00".repeat(4));
  }

  @Test
  void impossibleQueuePairsAreRefused() {
    int pd = pd();
    int cq = create(2, le(16));
    String refused = "01" + "00".repeat(4);
    assertThat(command(9, createQp(pd, 0, cq, cq, 0), 5)).isEqualTo(refused); // SMI
    assertThat(command(9, createQp(pd, 5, cq, cq, 0), 5)).isEqualTo(refused);
    assertThat(command(9, createQp(pd, 2, cq, cq, 513), 5)).isEqualTo(refused);
    assertThat(command(9, createQp(pd, 2, cq + 1, cq, 0), 5)).isEqualTo(refused);
    assertThat(command(9, createQp(pd + 1, 2, cq, cq, 0), 5)).isEqualTo(refused);
    assertThat(create(9, createQp(pd, 1, cq, cq, 0))).isEqualTo(1); // GSI
    assertThat(command(9, createQp(pd, 1, cq, cq, 0), 5)).isEqualTo(refused);
  }

  @Test
  void aReliableConnectionComesUp() {
    int qp = connectable(2);
    assertThat(does(10, modify(qp, 1, 1, 3, 1))).isFalse(); // access flags are missing
    assertThat(does(10, modify(qp, 1 | ACCESS, 1, 3, 1))).isTrue();
    assertThat(does(10, modify(qp, TO_RTR | 1 << 3, 2, 3, 1))).isFalse(); // a Q_Key
    assertThat(does(10, modify(qp, TO_RTR & ~(1 << 9), 2, 3, 1))).isFalse();
    assertThat(does(10, modify(qp, TO_RTR, 2, 4, 1))).isFalse(); // the network's MTU is 1500
    assertThat(does(10, modify(qp, TO_RTR, 2, 3, 2))).isFalse(); // there is no such GID
    assertThat(does(10, modify(qp, TO_RTR, 2, 3, 1))).isTrue();
    assertThat(does(10, modify(qp, TO_RTS | 2, 3, 3, 1))).isFalse(); // CUR_STATE says RESET
    assertThat(does(10, modify(qp, TO_RTS, 3, 3, 1))).isTrue();
    assertThat(command(11, le(qp, -1), 121))
        .isEqualTo(
            "00"
                + "0303000101010e0707"
                + "00".repeat(7)
                + le(0, 0x123456, 0x654321, 7, 7, 0)
                + le(16, 16, 4, 4, 0, 0)
                + GID_1
                + le(0)
                + "01400000"
                + "021122334402"
                + "00".repeat(26));
    assertThat(does(10, modify(qp, 1, 1, 3, 1))).isFalse(); // back to INIT
    assertThat(does(10, modify(qp, 1, 4, 3, 1))).isTrue(); // SQD
    assertThat(does(10, modify(qp, 1, 6, 3, 1))).isTrue(); // ERR
    assertThat(does(10, modify(qp, TO_RTS, 3, 3, 1))).isFalse();
    assertThat(does(10, modify(qp, 1, 0, 3, 1))).isTrue();
    assertThat(command(11, le(qp, 0), 121)).startsWith("00" + "00".repeat(9));
  }

  @Test
  void aDatagramQueuePairComesUp() {
    int qp = connectable(4);
    assertThat(does(10, modify(qp, 1 | ACCESS, 1, 0, 0))).isFalse();
    assertThat(does(10, modify(qp, 1 | 1 << 3, 1, 0, 0))).isTrue();
    assertThat(does(10, modify(qp, 1, 2, 0, 0))).isTrue();
    assertThat(does(10, modify(qp, 1 | 1 << 12, 3, 0, 0))).isTrue();
    assertThat(does(10, modify(qp + 1, 1, 0, 0, 0))).isFalse();
  }

  @Test
  void gidsAndAddressHandles() {
    int pd = pd();
    String vector = GID_1 + le(0) + "03400000" + "021122334402" + "00".repeat(10);
    assertThat(command(13, le(pd, 0) + vector, 5)).isEqualTo("01" + "00".repeat(4));
    assertThat(does(15, "0300" + "00".repeat(6) + GID_1)).isTrue();
    assertThat(does(15, "1000" + "00".repeat(6) + GID_1)).isFalse();
    assertThat(does(15, "0400" + "00".repeat(22))).isFalse();
    int ah = create(13, le(pd, 0) + vector);
    assertThat(does(5, le(pd))).isFalse();
    assertThat(does(14, le(pd + 1, ah))).isFalse();
    assertThat(does(14, le(pd, ah))).isTrue();
    assertThat(does(5, le(pd))).isTrue();
    assertThat(does(16, "0300")).isTrue();
    assertThat(does(16, "0300")).isFalse();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void aCqIsArmed(int flags) {
    int cq = create(2, le(16));
    assertThat(does(17, le(cq, flags))).isTrue();
    assertThat(does(17, le(cq + 1, flags))).isFalse();
    assertThat(does(17, le(cq, 4))).isFalse();
    assertThat(does(17, le(cq, 0))).isFalse();
  }

  @Test
  void aResetForgetsAllObjects() {
    int pd = pd();
    create(2, le(16));
    driver.control.clear();
    driver.start(GuestDriver.ALL | 1L << 55);

    assertThat(does(5, le(pd))).isFalse();
    assertThat(pd()).isZero();
    assertThat(create(2, le(16))).isZero();
  }
}
