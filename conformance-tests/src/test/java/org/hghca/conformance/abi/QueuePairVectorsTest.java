package org.hghca.conformance.abi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.abi.QueuePairContext.*;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.hghca.abi.HcrCommand;
import org.hghca.abi.QueuePairContext;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The recorded contexts of MODIFY_QP and QUERY_QP. Dword i of a recorded inbox is n0000000h + i, so
 * that each field has a value of its own; n is 1, 2 and 3.
 */
class QueuePairVectorsTest {
  private static final List<CommandVector> SEQUENCE =
      CommandVector.load("stage1_ceu_sequence.json");

  @ParameterizedTest
  @CsvSource({"15, 1, RST2INIT", "17, 2, INIT2RTR", "18, 3, RTR2RTS"})
  void modifyQpInbox(int index, int n, HcrCommand command) {
    CommandVector vector = SEQUENCE.get(index);
    assertThat(Vectors.number(vector.op())).isEqualTo(command.code());
    assertThat(vector.inbox()).hasSize(2 * 192);

    QueuePairContext context = QueuePairContext.decode(vector.inboxBytes());
    checkFields(context, n);
    checkWritten(context, n, "x0000028 x0000029 x000002a x000002b x000002c x000002d x000002e");
  }

  @ParameterizedTest
  @CsvSource({"16, 1", "19, 3"})
  void queryQpOutbox(int index, int n) {
    CommandVector vector = SEQUENCE.get(index);
    assertThat(Vectors.number(vector.op())).isEqualTo(HcrCommand.QUERY_QP.code());

    // the card returns zeros from A0h to BBh, where the document has no field
    QueuePairContext context = QueuePairContext.decode(vector.outboxBytes());
    checkFields(context, n);
    checkWritten(context, n, "00000000 00000000 00000000 00000000 00000000 00000000 00000000");
  }

  private static void checkFields(QueuePairContext context, int n) {
    int base = n << 28;
    assertThat(context.get(OPT_PARAM_MASK)).isEqualTo(base);
    assertThat(context.get(STATE)).isEqualTo(n); // x0000002
    assertThat(context.get(SERVICE_TYPE)).isEqualTo(0);
    assertThat(context.get(MTU)).isEqualTo(n / 2); // x0000003
    assertThat(context.get(MSG_MAX)).isEqualTo(n % 2 == 1 ? 0x10 : 0);
    assertThat(context.get(RQ_ENTRY_SIZE)).isEqualTo(0);
    assertThat(context.get(SQ_ENTRY_SIZE)).isEqualTo(0);
    assertThat(context.get(RLKEY_ARBEL_SCHED_QUEUE)).isEqualTo(3);
    assertThat(context.get(USR_PAGE)).isEqualTo(base + 0x04);
    assertThat(context.get(LOCAL_QPN)).isEqualTo(base + 0x05);
    assertThat(context.get(REMOTE_QPN)).isEqualTo(base + 0x06);
    assertThat(context.get(PORT)).isEqualTo(0); // x0000007
    assertThat(context.get(PKEY_INDEX)).isEqualTo(7);
    assertThat(context.get(RNR_RETRY)).isEqualTo(0x10 * n); // x0000008
    assertThat(context.get(HAS_GRH)).isEqualTo(0);
    assertThat(context.get(MY_LMC)).isEqualTo(0);
    assertThat(context.get(ACK_TIMEOUT)).isEqualTo(2 * n); // x0000009
    assertThat(context.get(MGID_INDEX)).isEqualTo(0);
    assertThat(context.get(STATIC_RATE)).isEqualTo(0);
    assertThat(context.get(HOP_LIMIT)).isEqualTo(9);
    assertThat(context.get(SL)).isEqualTo(n); // x000000a
    assertThat(context.get(TRAFFIC_CLASS)).isEqualTo(0);
    assertThat(context.get(FLOW_LABEL)).isEqualTo(0x0a);
    assertThat(context.getLong(REMOTE_GID_HIGH))
        .isEqualTo(Vectors.longNumber("%d000000b%d000000c".formatted(n, n)));
    assertThat(context.getLong(REMOTE_GID_LOW))
        .isEqualTo(Vectors.longNumber("%d000000d%d000000e".formatted(n, n)));
    assertThat(context.get(DMAC_LOW)).isEqualTo(0x1000 * n); // x000000f
    assertThat(context.get(SMAC_LOW)).isEqualTo(0x000f);
    assertThat(context.get(SMAC_HIGH)).isEqualTo(base + 0x10);
    assertThat(context.get(DMAC_HIGH)).isEqualTo(base + 0x11);
    assertThat(context.sourceMac()).isEqualTo(Vectors.longNumber("%d0000010000f".formatted(n)));
    assertThat(context.destinationMac())
        .isEqualTo(Vectors.longNumber("%d0000011%d000".formatted(n, n)));
    assertThat(context.get(SOURCE_IP)).isEqualTo(base + 0x12);
    assertThat(context.get(DESTINATION_IP)).isEqualTo(base + 0x13);
    assertThat(context.get(PD)).isEqualTo(base + 0x17);
    assertThat(context.get(WQE_BASE)).isEqualTo(base + 0x18);
    assertThat(context.get(WQE_LKEY)).isEqualTo(base + 0x19);
    assertThat(context.get(NEXT_SEND_PSN)).isEqualTo(base + 0x1b);
    assertThat(context.get(SEND_CQN)).isEqualTo(base + 0x1c);
    assertThat(context.get(SEND_WQE_LKEY)).isEqualTo(base + 0x1d);
    assertThat(context.get(SEND_WQE_LENGTH)).isEqualTo(base + 0x1e);
    assertThat(context.get(LAST_ACKED_PSN)).isEqualTo(base + 0x1f);
    assertThat(context.get(SSN)).isEqualTo(base + 0x20);
    assertThat(context.get(MIN_RNR_TIMER)).isEqualTo(0x10 * n); // x0000021
    assertThat(context.get(NEXT_RECEIVE_PSN)).isEqualTo(0x21);
    assertThat(context.get(RA_BUFF_INDEX)).isEqualTo(base + 0x22);
    assertThat(context.get(RECEIVE_CQN)).isEqualTo(base + 0x23);
    assertThat(context.get(RECEIVE_WQE_LKEY)).isEqualTo(base + 0x24);
    assertThat(context.get(RECEIVE_WQE_LENGTH)).isEqualTo(base + 0x25);
    assertThat(context.get(QKEY)).isEqualTo(base + 0x26);
    assertThat(context.get(RMSN)).isEqualTo(base + 0x27);
    assertThat(context.get(RQ_WQE_COUNTER)).isEqualTo(0x1000 * n); // x000002f
    assertThat(context.get(SQ_WQE_COUNTER)).isEqualTo(0x002f);
  }

  /**
   * Writes all but the bits that belong to no field, which the pattern also sets.
   *
   * @param extensions the bytes from A0h to BBh
   */
  private static void checkWritten(QueuePairContext context, int n, String extensions) {
    String literal =
        Bytes.hex(
            // reserved: 08h[10:0], 1Ch[31:27], 20h[15:0]
            "x0000000 x0000001 x0000000 x0000003 x0000004 x0000005 x0000006 00000007",
            "x0000000 x0000009 x000000a x000000b x000000c x000000d x000000e x000000f",
            // 58h and 68h hold extensions, whose bits the pattern leaves zero
            "x0000010 x0000011 x0000012 x0000013 x0000014 x0000015 00000000 x0000017",
            "x0000018 x0000019 00000000 x000001b x000001c x000001d x000001e x000001f",
            "x0000020 x0000021 x0000022 x0000023 x0000024 x0000025 x0000026 x0000027",
            extensions + " x000002f");

    MemorySegment mailbox = Bytes.filled(192, 0xff);
    context.encode(mailbox);

    assertThat(Bytes.hex(mailbox)).isEqualTo(literal.replace("x", Integer.toString(n)));
  }
}
