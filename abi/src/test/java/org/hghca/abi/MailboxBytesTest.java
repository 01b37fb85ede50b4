package org.hghca.abi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

/** Bodies of fixed size, compared with the bytes that the makers' RTL writes and reads. */
class MailboxBytesTest {
  private static final String DEV_LIM =
      "01000000 00000000 000d000d 0e0d050e 0c000001 00080000 01000080 00400040"
          + "005000f1 000c0000 00100200 00100200 12345678 87650000 00000000 00000000";

  @Test
  void deviceLimitsOfTheRtl() {
    DeviceLimits limits = DeviceLimits.decode(Mailboxes.of(DEV_LIM));

    assertThat(limits.reservedQps()).isEqualTo(2);
    assertThat(limits.reservedCqs()).isEqualTo(1);
    assertThat(limits.reservedEqs()).isEqualTo(1);
    assertThat(limits.reservedMtts()).isEqualTo(1);
    assertThat(limits.reservedPds()).isEqualTo(1);
    assertThat(limits.reservedLkeys()).isEqualTo(1);
    assertThat(limits.maxQpSize()).isEqualTo(8192);
    assertThat(limits.maxCqSize()).isEqualTo(8192);
    assertThat(limits.maxQps()).isEqualTo(16384);
    assertThat(limits.maxCqs()).isEqualTo(8192);
    assertThat(limits.maxEqs()).isEqualTo(32);
    assertThat(limits.maxMpts()).isEqualTo(16384);
    assertThat(limits.maxPds()).isEqualTo(4096);
    assertThat(limits.maxGids()).isEqualTo(1);
    assertThat(limits.maxPkeys()).isEqualTo(2);
    assertThat(limits.mttEntrySize()).isEqualTo(8);
    assertThat(limits.qpcEntrySize()).isEqualTo(256);
    assertThat(limits.cqcEntrySize()).isEqualTo(128);
    assertThat(limits.eqcEntrySize()).isEqualTo(64);
    assertThat(limits.mptEntrySize()).isEqualTo(64);
    assertThat(limits.ackDelay()).isZero();
    assertThat(limits.maxMtu()).isEqualTo(5);
    assertThat(limits.maxPortWidth()).isZero();
    assertThat(limits.maxVl()).isEqualTo(15);
    assertThat(limits.ports()).isEqualTo(1);
    assertThat(limits.minPageSize()).isEqualTo(4096);
    assertThat(limits.maxSg()).isEqualTo(16);
    assertThat(limits.maxDescSize()).isEqualTo(512);
    assertThat(limits.maxSgRq()).isEqualTo(16);
    assertThat(limits.maxDescSizeRq()).isEqualTo(512);
    assertThat(limits.maxIcmSize()).isEqualTo(0x1234567887650000L);
  }

  @Test
  void deviceLimitsAreEncodedToTheSameBytes() {
    MemorySegment mailbox = Mailboxes.used(64);
    DeviceLimits.decode(Mailboxes.of(DEV_LIM)).encode(mailbox);
    assertThat(Mailboxes.hex(mailbox)).isEqualTo(DEV_LIM.replace(" ", ""));
  }

  @Test
  void impossibleLogarithmSaturates() {
    MemorySegment mailbox = Mailboxes.of(DEV_LIM);
    DeviceLimits.MAX_QPS.set(mailbox, 30);
    assertThat(DeviceLimits.decode(mailbox).maxQps()).isEqualTo(1 << 30);
    DeviceLimits.MAX_QPS.set(mailbox, 31);
    assertThat(DeviceLimits.decode(mailbox).maxQps()).isEqualTo(Integer.MAX_VALUE);
    DeviceLimits.MAX_QPS.set(mailbox, 255);
    assertThat(DeviceLimits.decode(mailbox).maxQps()).isEqualTo(Integer.MAX_VALUE);
  }

  @Test
  void adapterOfTheRtl() {
    String bytes = "00".repeat(24) + "0123456789abcdef";
    assertThat(AdapterInfo.decode(Mailboxes.of(bytes)).boardId()).isEqualTo(0x0123456789ABCDEFL);

    MemorySegment mailbox = Mailboxes.used(32);
    new AdapterInfo(0x0123456789ABCDEFL).encode(mailbox);
    assertThat(Mailboxes.hex(mailbox)).isEqualTo(bytes);
  }

  @Test
  void initHca() {
    InitHca init =
        new InitHca(0x10000000L, 14, 0x10400000L, 13, 0x10600000L, 5, 0x20000000L, 14, 0x20400000L);
    String bytes =
        "0000000000000000000000001000000e000000001040000d0000000010600005"
            + "00000000000000000000000000000000000000002000000e0000000020400000";

    MemorySegment mailbox = Mailboxes.used(64);
    init.encode(mailbox);
    assertThat(Mailboxes.hex(mailbox)).isEqualTo(bytes);
    assertThat(InitHca.decode(Mailboxes.of(bytes))).isEqualTo(init);
    assertThat(InitHca.LAYOUT.describe(mailbox))
        .isEqualTo(
            "qpc_base=0x10000000 log_num_qps=0xe cqc_base=0x10400000 log_num_cqs=0xd"
                + " eqc_base=0x10600000 log_num_eqs=0x5 mpt_base=0x20000000 log_mpt_sz=0xe"
                + " mtt_base=0x20400000");
  }

  @Test
  void initHcaRefusesABaseThatIsNoMultipleOf256() {
    InitHca init = new InitHca(0x10000080L, 14, 0, 0, 0, 0, 0, 0, 0);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> init.encode(Mailboxes.used(64)))
        .withMessage("qpc_base 08h[63:8] takes 56 bits, not 0x10000080");
  }

  @Test
  void mpt() {
    Mpt mpt = new Mpt(0x0F000103, 4096, 0x102, 5, 0x800000000L, 0x2000, 0, 0, 0, 0x1_0000_0000L, 0);
    // start at 10h and length at 18h are aligned, mtt_seg at 2Ch is not.
    String bytes =
        "0f000103 00001000 00000102 00000005 00000008 00000000 00000000 00002000"
            + "00000000 00000000 00000000 00000001 00000000 00000000 00000000 00000000";

    MemorySegment mailbox = Mailboxes.used(64);
    mpt.encode(mailbox);
    assertThat(Mailboxes.hex(mailbox)).isEqualTo(bytes.replace(" ", ""));
    assertThat(Mpt.decode(Mailboxes.of(bytes))).isEqualTo(mpt);
  }

  @Test
  void mptFlags() {
    assertThat(
            MptFlags.SW_OWNS
                | MptFlags.MIO
                | MptFlags.BIND_ENABLE
                | MptFlags.PHYSICAL
                | MptFlags.REGION)
        .isEqualTo(0xF0028300);
    assertThat(MptFlags.LOCAL_WRITE).isEqualTo(0x01);
    assertThat(MptFlags.REMOTE_WRITE).isEqualTo(0x02);
    assertThat(MptFlags.REMOTE_READ).isEqualTo(0x04);
    assertThat(MptFlags.REMOTE_ATOMIC).isEqualTo(0x08);
    assertThat(MptFlags.MW_BIND).isEqualTo(0x10);
    assertThat(MptFlags.ZERO_BASED).isEqualTo(0x20);
    assertThat(MptFlags.ON_DEMAND).isEqualTo(0x40);
  }

  /** Each dword contains its own number, so that a field read from the wrong place is detected. */
  @Test
  void eventQueueContext() {
    EventQueueContext context =
        EventQueueContext.decode(
            Mailboxes.of(
                "01000000 01010101 01020202 01030303 01040404 01050505 01060606 01070707"
                    + "01080808 01090909 010a0a0a 010b0b0b 010c0c0c 010d0d0d 010e0e0e 010f0f0f"));
    assertThat(context)
        .isEqualTo(
            new EventQueueContext(
                0x01000000,
                0x0101010101020202L,
                1,
                5,
                0x01060606,
                0x01070707,
                0x010a0a0a,
                0x010b0b0b));
    assertThat(EventQueueContext.OWNER_HW | EventQueueContext.TRANSLATE | EventQueueContext.ARMED)
        .isEqualTo(0x01040100);
  }

  @Test
  void completionQueueContext() {
    CompletionQueueContext context =
        CompletionQueueContext.decode(
            Mailboxes.of(
                "02000000 02010101 02020202 02030303 02040404 02050505 02060606 02070707"
                    + "02080808 02090909 020a0a0a 020b0b0b 020c0c0c 020d0d0d 020e0e0e 020f0f0f"));
    assertThat(context)
        .isEqualTo(
            new CompletionQueueContext(
                0x02000000,
                0x0201010102020202L,
                2,
                0x030303,
                0x02040404,
                0x02050505,
                0x02060606,
                0x020b0b0b));
    assertThat(CompletionQueueContext.TRANSLATE | CompletionQueueContext.ARMED)
        .isEqualTo(0x00040100);
  }

  @Test
  void resizeCq() {
    MemorySegment mailbox = Mailboxes.used(32);
    new ResizeCq(10, 0xDEADBEEF).encode(mailbox);
    assertThat(Mailboxes.hex(mailbox)).isEqualTo("0a000000deadbeef" + "00".repeat(24));
  }

  @Test
  void portInfoOfTheRtlIsEmpty() {
    PortInfo info = PortInfo.decode(Mailboxes.of("00010203" + "00".repeat(28)));
    assertThat(info).isEqualTo(new PortInfo(1, 2, 3));
    assertThat(info.isConstantAnswer()).isTrue();
    assertThat(new PortInfo(1, 4, 5).isConstantAnswer()).isFalse();
    assertThat(new PortInfo(2, 2, 3).isConstantAnswer()).isFalse();
    assertThat(new PortInfo(1, 2, 5).isConstantAnswer()).isFalse();
  }
}
