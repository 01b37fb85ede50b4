package org.hghca.abi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class QueuePairContextTest {
  private static final ValueLayout.OfInt DWORD =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

  /** A field, a value, and the resulting dword. */
  static Stream<Arguments> fields() {
    return Stream.of(
        Arguments.of(QueuePairContext.OPT_PARAM_MASK, 0x00000001, 0x00, 0x00000001),
        Arguments.of(QueuePairContext.STATE, QpcState.ERR, 0x08, 0x60000000),
        Arguments.of(QueuePairContext.SERVICE_TYPE, QpcServiceType.UD, 0x08, 0x00030000),
        Arguments.of(QueuePairContext.MTU, 5, 0x0C, 0xA0000000),
        Arguments.of(QueuePairContext.MSG_MAX, 31, 0x0C, 0x1F000000),
        Arguments.of(QueuePairContext.RQ_ENTRY_SIZE, 8, 0x0C, 0x00080000),
        Arguments.of(QueuePairContext.SQ_ENTRY_SIZE, 7, 0x0C, 0x00000700),
        Arguments.of(QueuePairContext.RLKEY_ARBEL_SCHED_QUEUE, 0xA5, 0x0C, 0x000000A5),
        Arguments.of(QueuePairContext.USR_PAGE, 0x7FF, 0x10, 0x000007FF),
        Arguments.of(QueuePairContext.LOCAL_QPN, 0x123456, 0x14, 0x00123456),
        Arguments.of(QueuePairContext.REMOTE_QPN, 0x654321, 0x18, 0x00654321),
        Arguments.of(QueuePairContext.PORT, 1, 0x1C, 0x01000000),
        Arguments.of(QueuePairContext.PKEY_INDEX, 0x7F, 0x1C, 0x0000007F),
        Arguments.of(QueuePairContext.RNR_RETRY, 7, 0x20, 0x07000000),
        Arguments.of(QueuePairContext.HAS_GRH, 1, 0x20, 0x00800000),
        Arguments.of(QueuePairContext.MY_LMC, 0x7F, 0x20, 0x007F0000),
        Arguments.of(QueuePairContext.ACK_TIMEOUT, 14, 0x24, 14 << 3 << 24),
        Arguments.of(QueuePairContext.MGID_INDEX, 2, 0x24, 0x00020000),
        Arguments.of(QueuePairContext.STATIC_RATE, 3, 0x24, 0x00000300),
        Arguments.of(QueuePairContext.HOP_LIMIT, 64, 0x24, 0x00000040),
        Arguments.of(QueuePairContext.SL, 3, 0x28, 0x30000000),
        Arguments.of(QueuePairContext.TRAFFIC_CLASS, 0xAB, 0x28, 0x0AB00000),
        Arguments.of(QueuePairContext.FLOW_LABEL, 0xFEDCB, 0x28, 0x000FEDCB),
        Arguments.of(QueuePairContext.SOURCE_IP, 0x0A000001, 0x48, 0x0A000001),
        Arguments.of(QueuePairContext.DESTINATION_IP, 0x0A000002, 0x4C, 0x0A000002),
        Arguments.of(QueuePairContext.MAX_DEST_RD_ATOMIC, 7, 0x58, 0x00E00000),
        Arguments.of(QueuePairContext.REMOTE_READ_ENABLE, 1, 0x58, 0x00008000),
        Arguments.of(QueuePairContext.REMOTE_WRITE_ENABLE, 1, 0x58, 0x00004000),
        Arguments.of(QueuePairContext.REMOTE_ATOMIC_ENABLE, 1, 0x58, 0x00002000),
        Arguments.of(QueuePairContext.PD, 9, 0x5C, 0x00000009),
        Arguments.of(QueuePairContext.WQE_BASE, 0x60, 0x60, 0x60),
        Arguments.of(QueuePairContext.WQE_LKEY, 0x64, 0x64, 0x64),
        Arguments.of(QueuePairContext.MAX_RD_ATOMIC, 4, 0x68, 0x00800000),
        Arguments.of(QueuePairContext.RETRY_COUNT, 7, 0x68, 0x00070000),
        Arguments.of(QueuePairContext.NEXT_SEND_PSN, 0xABCDEF, 0x6C, 0x00ABCDEF),
        Arguments.of(QueuePairContext.SEND_CQN, 4, 0x70, 4),
        Arguments.of(QueuePairContext.SEND_WQE_LKEY, 0x10, 0x74, 0x10),
        Arguments.of(QueuePairContext.SEND_WQE_LENGTH, 0x100000, 0x78, 0x100000),
        Arguments.of(QueuePairContext.LAST_ACKED_PSN, 0xABCDEF, 0x7C, 0x00ABCDEF),
        Arguments.of(QueuePairContext.SSN, 0x80, 0x80, 0x80),
        Arguments.of(QueuePairContext.MIN_RNR_TIMER, 12, 0x84, 0x0C000000),
        Arguments.of(QueuePairContext.NEXT_RECEIVE_PSN, 0xFFFFFF, 0x84, 0x00FFFFFF),
        Arguments.of(QueuePairContext.RA_BUFF_INDEX, 0x88, 0x88, 0x88),
        Arguments.of(QueuePairContext.RECEIVE_CQN, 5, 0x8C, 5),
        Arguments.of(QueuePairContext.RECEIVE_WQE_LKEY, 0x11, 0x90, 0x11),
        Arguments.of(QueuePairContext.RECEIVE_WQE_LENGTH, 512, 0x94, 512),
        Arguments.of(QueuePairContext.QKEY, 0x11111111, 0x98, 0x11111111),
        Arguments.of(QueuePairContext.RMSN, 0x9C, 0x9C, 0x9C),
        Arguments.of(QueuePairContext.RQ_WQE_COUNTER, 0x1234, 0xBC, 0x12340000),
        Arguments.of(QueuePairContext.SQ_WQE_COUNTER, 0x5678, 0xBC, 0x00005678));
  }

  @ParameterizedTest
  @MethodSource("fields")
  void fieldIsWhereTheTablePutsIt(MailboxField field, int value, int offset, int dword) {
    MemorySegment mailbox = Mailboxes.used(192);
    new QueuePairContext().set(field, value).encode(mailbox);
    for (int at = 0; at < 192; at += 4) {
      assertThat(mailbox.get(DWORD, at)).as("%02Xh", at).isEqualTo(at == offset ? dword : 0);
    }
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
