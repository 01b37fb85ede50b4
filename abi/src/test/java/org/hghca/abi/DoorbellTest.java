package org.hghca.abi;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DoorbellTest {
  @Test
  void composesTheBitsOfTables316And317() {
    assertThat(Doorbell.sendQueue(0xabcdef, 0x1f, 0x1234, 1, 0x10))
        .isEqualTo(0xabcd_ef1f_0012_3430L);
    assertThat(Doorbell.sendQueue(2, 3, 0, 0, 0x08)).isEqualTo(0x0000_0203_0000_0008L);
  }

  @Test
  void eachArgumentReachesOnlyItsOwnBits() {
    assertThat(Doorbell.sendQueue(-1, 0, 0, 0, 0)).isEqualTo(0xffff_ff00_0000_0000L);
    assertThat(Doorbell.sendQueue(0, -1, 0, 0, 0)).isEqualTo(0x0000_00ff_0000_0000L);
    assertThat(Doorbell.sendQueue(0, 0, -1, 0, 0)).isEqualTo(0x0000_0000_00ff_ff00L);
    assertThat(Doorbell.sendQueue(0, 0, 0, -1, 0)).isEqualTo(0x0000_0000_0000_0020L);
    assertThat(Doorbell.sendQueue(0, 0, 0, 0, -1)).isEqualTo(0x0000_0000_0000_001fL);
  }

  @Test
  void eachBitBelongsToOneField() {
    for (int bit = 0; bit < 64; bit++) {
      long value = 1L << bit;
      assertThat(Doorbell.opcode(value)).as("opcode, bit %d", bit).isEqualTo(in(bit, 4, 0));
      assertThat(Doorbell.fence(value)).as("F, bit %d", bit).isEqualTo(in(bit, 5, 5));
      assertThat(Doorbell.headUnits16(value)).as("head, bit %d", bit).isEqualTo(in(bit, 23, 8));
      assertThat(Doorbell.size16(value)).as("size0, bit %d", bit).isEqualTo(in(bit, 39, 32));
      assertThat(Doorbell.qpn(value)).as("qpn, bit %d", bit).isEqualTo(in(bit, 63, 40));
    }
  }

  @Test
  void registersAreAtTheirOffsets() {
    assertThat(Doorbell.SEND_QUEUE).isZero();
    assertThat(Doorbell.CQ_ARM).isEqualTo(0x10);
    assertThat(Doorbell.EQ_ARM).isEqualTo(0x20);
  }

  @Test
  void armsACompletionQueueForTheNextOrTheNextSolicited() {
    int next = Doorbell.armCompletionQueue(0x123456, false);
    assertThat(next).isEqualTo(0x0212_3456);
    assertThat(Doorbell.armedCqn(next)).isEqualTo(0x123456);
    assertThat(Doorbell.armsNext(next)).isTrue();
    assertThat(Doorbell.armsSolicited(next)).isFalse();

    int solicited = Doorbell.armCompletionQueue(0xffff_ffff, true);
    assertThat(solicited).isEqualTo(0x01ff_ffff);
    assertThat(Doorbell.armedCqn(solicited)).isEqualTo(0xff_ffff);
    assertThat(Doorbell.armsNext(solicited)).isFalse();
    assertThat(Doorbell.armsSolicited(solicited)).isTrue();
  }

  @Test
  void armsAnEventQueueWithItsConsumerIndex() {
    int value = Doorbell.armEventQueue(0x1f, 0xfedcba);
    assertThat(value).isEqualTo(0xfedc_ba1f);
    assertThat(Doorbell.armedEqn(value)).isEqualTo(0x1f);
    assertThat(Doorbell.consumerIndex(value)).isEqualTo(0xfedcba);
    assertThat(Doorbell.armEventQueue(0x100, 0x0100_0000)).isZero();
  }

  @ParameterizedTest
  @ValueSource(longs = {21, 22, 23})
  void composedFieldsAreExtracted(long seed) {
    var random = new SplittableRandom(seed);
    for (int i = 0; i < 1000; i++) {
      int qpn = random.nextInt(1 << 24);
      int size = random.nextInt(1 << 8);
      int head = random.nextInt(1 << 16);
      int fence = random.nextInt(2);
      int opcode = random.nextInt(1 << 5);
      long value = Doorbell.sendQueue(qpn, size, head, fence, opcode);
      assertThat(Doorbell.qpn(value)).isEqualTo(qpn);
      assertThat(Doorbell.size16(value)).isEqualTo(size);
      assertThat(Doorbell.headUnits16(value)).isEqualTo(head);
      assertThat(Doorbell.fence(value)).isEqualTo(fence);
      assertThat(Doorbell.opcode(value)).isEqualTo(opcode);
    }
  }

  private static int in(int bit, int high, int low) {
    return bit >= low && bit <= high ? 1 << bit - low : 0;
  }
}
