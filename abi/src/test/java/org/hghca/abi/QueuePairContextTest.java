package org.hghca.abi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class QueuePairContextTest {
  static List<FieldRow> fields() {
    return QueuePairTable.fields();
  }

  @ParameterizedTest
  @MethodSource("fields")
  void fieldSetAloneIsAloneInTheMailbox(FieldRow row) {
    MemorySegment mailbox = Mailboxes.used(200);
    new QueuePairContext().setLong(row.field(), row.value()).encode(mailbox);

    assertThat(Mailboxes.hex(mailbox)).isEqualTo(row.body(192) + "a5".repeat(8));
    assertThat(QueuePairContext.decode(mailbox).getLong(row.field())).isEqualTo(row.value());
  }

  @Test
  void macAddressesInNaturalOrder() {
    MemorySegment mailbox = Mailboxes.used(192);
    QueuePairContext context =
        new QueuePairContext().sourceMac(0x123456789ABCL).destinationMac(0xFEDCBA987654L);
    context.encode(mailbox);

    assertThat(Mailboxes.hex(mailbox.asSlice(0x3C, 12)))
        .isEqualTo("7654" + "9abc" + "12345678" + "fedcba98");
    assertThat(context.sourceMac()).isEqualTo(0x123456789ABCL);
    assertThat(context.destinationMac()).isEqualTo(0xFEDCBA987654L);
    assertThatIllegalArgumentException().isThrownBy(() -> context.sourceMac(1L << 48));
    assertThatIllegalArgumentException().isThrownBy(() -> context.destinationMac(-1));
    assertThat(context.sourceMac()).as("after a refused one").isEqualTo(0x123456789ABCL);
  }

  @Test
  void remoteGidIsSixteenBytesInOrder() {
    MemorySegment mailbox = Mailboxes.used(192);
    new QueuePairContext()
        .setLong(QueuePairContext.REMOTE_GID_HIGH, 0xFE80000000000000L)
        .setLong(QueuePairContext.REMOTE_GID_LOW, 0x0123456789ABCDEFL)
        .encode(mailbox);
    assertThat(Mailboxes.hex(mailbox.asSlice(0x2C, 16)))
        .isEqualTo("fe80000000000000" + "0123456789abcdef");
  }

  @Test
  void reservedBitsAreDropped() {
    MemorySegment ones = MemorySegment.ofArray(new byte[192]).fill((byte) 0xff);
    QueuePairContext all = new QueuePairContext();
    fields().forEach(row -> all.setLong(row.field(), row.field().getLong(ones)));
    MemorySegment expected = Mailboxes.used(192);
    all.encode(expected);
    MemorySegment read = Mailboxes.used(192);
    QueuePairContext.decode(ones).encode(read);

    assertThat(Mailboxes.hex(read)).isEqualTo(Mailboxes.hex(expected)).contains("0");
  }

  @Test
  void copyIsIndependent() {
    QueuePairContext context = new QueuePairContext().set(QueuePairContext.STATE, QpcState.RTR);
    QueuePairContext copy = context.copy();
    context.set(QueuePairContext.STATE, QpcState.RTS);
    assertThat(copy.get(QueuePairContext.STATE)).isEqualTo(2);
    assertThat(context.get(QueuePairContext.STATE)).isEqualTo(3);
  }

  @Test
  void contextIsReadAtABase() {
    MemorySegment icm = MemorySegment.ofArray(new byte[1024]);
    new QueuePairContext()
        .set(QueuePairContext.STATE, QpcState.RTS)
        .set(QueuePairContext.PD, 5)
        .encode(icm.asSlice(512));

    assertThat(QueuePairContext.STATE.get(icm, 512)).isEqualTo(3);
    assertThat(QueuePairContext.decode(icm, 512).get(QueuePairContext.PD)).isEqualTo(5);
    assertThat(QueuePairContext.decode(icm, 256).get(QueuePairContext.PD)).isZero();
    assertThat(QueuePairContext.LAYOUT.describe(icm, 512)).isEqualTo("state=0x3 pd=0x5");
  }

  @Test
  void toStringNamesTheFieldsThatAreSet() {
    assertThat(
            new QueuePairContext()
                .set(QueuePairContext.STATE, QpcState.INIT)
                .set(QueuePairContext.LOCAL_QPN, 0x42))
        .hasToString("QPC state=0x1 local_qpn=0x42");
  }

  @Test
  void refusedValueLeavesTheContextAsItWas() {
    QueuePairContext context = new QueuePairContext().set(QueuePairContext.RETRY_COUNT, 5);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> context.set(QueuePairContext.RETRY_COUNT, 8))
        .withMessage("retry_cnt 68h[18:16] takes 3 bits, not 0x8");
    assertThat(context.get(QueuePairContext.RETRY_COUNT)).isEqualTo(5);
  }

  @Test
  void statesAndServiceTypesOfTheDocument() {
    assertThat(Stream.of(0, 1, 2, 3, 4, 5, 6, 7).map(QpcState::name))
        .containsExactly("RST", "INIT", "RTR", "RTS", "SQE", "SQD", "ERR", "7");
    assertThat(Stream.of(0, 1, 2, 3, 4).map(QpcServiceType::name))
        .containsExactly("RC", "UC", "RD", "UD", "4");
  }

  @Test
  void masksOfTheDocument() {
    assertThat(OptParamMask.STATE).isEqualTo(1);
    assertThat(OptParamMask.CUR_STATE).isEqualTo(1 << 1);
    assertThat(OptParamMask.EN_SQD_ASYNC_NOTIFY).isEqualTo(1 << 2);
    assertThat(OptParamMask.ACCESS_FLAGS).isEqualTo(1 << 3);
    assertThat(OptParamMask.PKEY_INDEX).isEqualTo(1 << 4);
    assertThat(OptParamMask.PORT).isEqualTo(1 << 5);
    assertThat(OptParamMask.QKEY).isEqualTo(1 << 6);
    assertThat(OptParamMask.AV).isEqualTo(1 << 7);
    assertThat(OptParamMask.PATH_MTU).isEqualTo(1 << 8);
    assertThat(OptParamMask.TIMEOUT).isEqualTo(1 << 9);
    assertThat(OptParamMask.RETRY_CNT).isEqualTo(1 << 10);
    assertThat(OptParamMask.RNR_RETRY).isEqualTo(1 << 11);
    assertThat(OptParamMask.RQ_PSN).isEqualTo(1 << 12);
    assertThat(OptParamMask.MAX_QP_RD_ATOMIC).isEqualTo(1 << 13);
    assertThat(OptParamMask.ALT_PATH).isEqualTo(1 << 14);
    assertThat(OptParamMask.MIN_RNR_TIMER).isEqualTo(1 << 15);
    assertThat(OptParamMask.SQ_PSN).isEqualTo(1 << 16);
    assertThat(OptParamMask.MAX_DEST_RD_ATOMIC).isEqualTo(1 << 17);
    assertThat(OptParamMask.PATH_MIG_STATE).isEqualTo(1 << 18);
    assertThat(OptParamMask.CAP).isEqualTo(1 << 19);
    assertThat(OptParamMask.DEST_QPN).isEqualTo(1 << 20);
  }
}
