package org.hghca.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CompletionsTest {

  /** Contents of one position. */
  private record Entry(
      long wrId,
      WcStatus status,
      WcOpcode opcode,
      int flags,
      int vendorError,
      int byteLength,
      int qpNumber,
      int immediate,
      int sourceQp) {

    static final Entry LEAST = new Entry(0, WcStatus.SUCCESS, WcOpcode.SEND, 0, 0, 0, 0, 0, 0);

    static final Entry MOST =
        new Entry(
            -1,
            WcStatus.GENERAL_ERR,
            WcOpcode.RECV_RDMA_WITH_IMM,
            3,
            -1,
            -1,
            0xff_ffff,
            -1,
            0xff_ffff);

    void putInto(Completions completions, int index) {
      completions.set(index, wrId, status.code(), opcode.code(), vendorError, qpNumber);
      completions.setMessage(index, byteLength, flags, immediate, sourceQp);
    }

    void assertIn(Completions completions, int index) {
      assertThat(completions.wrId(index)).isEqualTo(wrId);
      assertThat(completions.status(index)).isEqualTo(status);
      assertThat(completions.isSuccess(index)).isEqualTo(status == WcStatus.SUCCESS);
      assertThat(completions.opcode(index)).isEqualTo(opcode);
      assertThat(completions.flags(index)).isEqualTo(flags);
      assertThat(completions.hasImmediate(index)).isEqualTo((flags & 2) != 0);
      assertThat(completions.vendorError(index)).isEqualTo(vendorError);
      assertThat(completions.byteLength(index)).isEqualTo(Integer.toUnsignedLong(byteLength));
      assertThat(completions.qpNumber(index)).isEqualTo(qpNumber);
      assertThat(completions.immediate(index)).isEqualTo(immediate);
      assertThat(completions.sourceQp(index)).isEqualTo(sourceQp);
    }
  }

  @Test
  void positionsAndFieldsAreIndependent() {
    Completions completions = new Completions(3);
    Entry.LEAST.putInto(completions, 0);
    Entry.MOST.putInto(completions, 1);
    Entry.LEAST.putInto(completions, 2);

    Entry.LEAST.assertIn(completions, 0);
    Entry.MOST.assertIn(completions, 1);
    Entry.LEAST.assertIn(completions, 2);
    Entry.LEAST.putInto(completions, 1);
    Entry.LEAST.assertIn(completions, 1);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void randomValuesAreReadBack(long seed) {
    Random random = new Random(seed);
    WcOpcode[] opcodes = WcOpcode.values();
    Completions completions = new Completions(4);
    for (int round = 0; round < 1000; round++) {
      // Each field has none, all or some of its bits set, so that any overlap with a neighbor
      // shows.
      Entry entry =
          new Entry(
              random.nextLong() * random.nextInt(2),
              WcStatus.of(random.nextInt(22)),
              opcodes[random.nextInt(opcodes.length)],
              random.nextInt(4),
              bits(random),
              bits(random),
              bits(random) & 0xff_ffff,
              bits(random),
              bits(random) & 0xff_ffff);
      int index = random.nextInt(4);

      entry.putInto(completions, index);

      entry.assertIn(completions, index);
    }
  }

  private static int bits(Random random) {
    return switch (random.nextInt(4)) {
      case 0 -> 0;
      case 1 -> -1;
      case 2 -> Integer.MIN_VALUE;
      default -> random.nextInt();
    };
  }

  @Test
  void longestMessageHasAPositiveLength() {
    Completions completions = new Completions(1);
    completions.set(0, 0, 0, 128, 0, 1);
    completions.setMessage(0, 1 << 31, 0, 0, 0);

    assertThat(completions.byteLength(0)).isEqualTo(2_147_483_648L);
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, 2, Integer.MAX_VALUE, Integer.MIN_VALUE})
  void positionOutsideIsRefused(int index) {
    Completions completions = new Completions(2);

    assertThatThrownBy(() -> completions.wrId(index)).isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> completions.status(index))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> completions.set(index, 0, 0, 0, 0, 0))
        .isInstanceOf(IndexOutOfBoundsException.class);
  }

  @Test
  void capacityIsAsRequestedAndAtLeastOne() {
    assertThat(new Completions(1).capacity()).isOne();
    assertThat(new Completions(100).capacity()).isEqualTo(100);
    assertThatThrownBy(() -> new Completions(0)).isInstanceOf(VerbsException.class);
    assertThatThrownBy(() -> new Completions(-1)).isInstanceOf(VerbsException.class);
  }

  @Test
  void textHasStatusByNameAndNumber() {
    Completions completions = new Completions(1);
    completions.set(0, 7, 12, 1, 0x81, 0x41);
    completions.setMessage(0, 64, 0, 0, 0);

    assertThat(completions.describe(0))
        .isEqualTo(
            "wr_id 7: transport retry counter exceeded (12), RDMA_WRITE, QPN 0x000041, 64 bytes,"
                + " vendor error 0x81");
  }

  @Test
  void textOfASuccessHasNoVendorError() {
    Completions completions = new Completions(1);
    completions.set(0, 1, 0, 128, 0, 0x41);
    completions.setMessage(0, 4096, 0, 0, 0);

    assertThat(completions.describe(0))
        .isEqualTo("wr_id 1: success (0), RECV, QPN 0x000041, 4096 bytes");
  }
}
