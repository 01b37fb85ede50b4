package org.hghca.abi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

/** Bodies of fixed size, read and written as a whole. */
class MailboxBytesTest {
  private static final String EVERY_LIMIT =
      "01020304 00050006 00070008 090a0b0c 0d000e0f 00100000 01110112 01130114"
          + "011504a6 00170000 00180119 001a011b 1c1d1e1f 20212223 00000000 00000000";

  @Test
  void everyDeviceLimitIsReadIntoItsOwnComponent() {
    DeviceLimits limits = DeviceLimits.decode(Mailboxes.of(EVERY_LIMIT));

    assertThat(limits.reservedQpsLog()).isEqualTo(0x01);
    assertThat(limits.reservedCqsLog()).isEqualTo(0x02);
    assertThat(limits.reservedEqsLog()).isEqualTo(0x03);
    assertThat(limits.reservedMttsLog()).isEqualTo(0x04);
    assertThat(limits.reservedPdsLog()).isEqualTo(0x05);
    assertThat(limits.reservedLkeysLog()).isEqualTo(0x06);
    assertThat(limits.maxQpSizeLog()).isEqualTo(0x07);
    assertThat(limits.maxCqSizeLog()).isEqualTo(0x08);
    assertThat(limits.maxQpsLog()).isEqualTo(0x09);
    assertThat(limits.maxCqsLog()).isEqualTo(0x0a);
    assertThat(limits.maxEqsLog()).isEqualTo(0x0b);
    assertThat(limits.maxMptsLog()).isEqualTo(0x0c);
    assertThat(limits.maxPdsLog()).isEqualTo(0x0d);
    assertThat(limits.maxGidsLog()).isEqualTo(0x0e);
    assertThat(limits.maxPkeysLog()).isEqualTo(0x0f);
    assertThat(limits.mttEntrySize()).isEqualTo(0x10);
    assertThat(limits.qpcEntrySize()).isEqualTo(0x0111);
    assertThat(limits.cqcEntrySize()).isEqualTo(0x0112);
    assertThat(limits.eqcEntrySize()).isEqualTo(0x0113);
    assertThat(limits.mptEntrySize()).isEqualTo(0x0114);
    assertThat(limits.ackDelay()).isEqualTo(0x1);
    assertThat(limits.maxMtu()).isEqualTo(0x1);
    assertThat(limits.maxPortWidth()).isEqualTo(0x5);
    assertThat(limits.maxVl()).isEqualTo(0xa);
    assertThat(limits.ports()).isEqualTo(0x6);
    assertThat(limits.minPageSizeLog()).isEqualTo(0x17);
    assertThat(limits.maxSg()).isEqualTo(0x18);
    assertThat(limits.maxDescSize()).isEqualTo(0x0119);
    assertThat(limits.maxSgRq()).isEqualTo(0x1a);
    assertThat(limits.maxDescSizeRq()).isEqualTo(0x011b);
    assertThat(limits.maxIcmSize()).isEqualTo(0x1c1d1e1f20212223L);
  }

  @Test
  void everyDeviceLimitIsWrittenAndReservedBytesAreZero() {
    MemorySegment outbox = Mailboxes.used(72);
    DeviceLimits.decode(Mailboxes.of(EVERY_LIMIT)).encode(outbox);

    // without the blank bit at 22h that the literal has set
    String written = EVERY_LIMIT.replace("011504a6", "011500a6").replace(" ", "");
    assertThat(Mailboxes.hex(outbox)).isEqualTo(written + "a5".repeat(8));
  }

  @Test
  void logarithmsAreReturnedAsNumbers() {
    DeviceLimits limits = DeviceLimits.decode(Mailboxes.of(EVERY_LIMIT));

    assertThat(limits.reservedQps()).isEqualTo(2);
    assertThat(limits.reservedCqs()).isEqualTo(4);
    assertThat(limits.reservedEqs()).isEqualTo(8);
    assertThat(limits.reservedMtts()).isEqualTo(16);
    assertThat(limits.reservedPds()).isEqualTo(32);
    assertThat(limits.reservedLkeys()).isEqualTo(64);
    assertThat(limits.maxQpSize()).isEqualTo(128);
    assertThat(limits.maxCqSize()).isEqualTo(256);
    assertThat(limits.maxQps()).isEqualTo(512);
    assertThat(limits.maxCqs()).isEqualTo(1024);
    assertThat(limits.maxEqs()).isEqualTo(2048);
    assertThat(limits.maxMpts()).isEqualTo(4096);
    assertThat(limits.maxPds()).isEqualTo(8192);
    assertThat(limits.maxGids()).isEqualTo(16384);
    assertThat(limits.maxPkeys()).isEqualTo(32768);
    assertThat(limits.minPageSize()).isEqualTo(0x80_0000);
  }

  @Test
  void impossibleLogarithmSaturates() {
    MemorySegment mailbox = Mailboxes.of(EVERY_LIMIT);
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
    String bytes =
        "00000000 00000000 01020304 0506070e 11121314 1516170d 21222324 25262705"
            + "00000000 00000000 00000000 00000000 31323334 35363712 41424344 45464748";
    InitHca init =
        new InitHca(
            0x0102030405060700L,
            0x0e,
            0x1112131415161700L,
            0x0d,
            0x2122232425262700L,
            0x05,
            0x3132333435363700L,
            0x12,
            0x4142434445464748L);

    MemorySegment mailbox = Mailboxes.used(64);
    init.encode(mailbox);
    assertThat(Mailboxes.hex(mailbox)).isEqualTo(bytes.replace(" ", ""));
    assertThat(InitHca.decode(Mailboxes.of(bytes))).isEqualTo(init);
    assertThat(InitHca.LAYOUT.describe(mailbox))
        .isEqualTo(
            "qpc_base=0x102030405060700 log_num_qps=0xe cqc_base=0x1112131415161700"
                + " log_num_cqs=0xd eqc_base=0x2122232425262700 log_num_eqs=0x5"
                + " mpt_base=0x3132333435363700 log_mpt_sz=0x12 mtt_base=0x4142434445464748");
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
    String bytes =
        "f0020107 00000000 80000021 00000003 00007e00 00001000 00000002 00003000"
            + "00000011 00000012 00000013 00000000 000001ff 00000014 00000000 00000000";
    long start = 0x7e0000001000L;
    Mpt mpt =
        new Mpt(0xf0020107, 0, 0x80000021, 3, start, 0x200003000L, 0x11, 0x12, 0x13, 0x1ff, 0x14);

    MemorySegment mailbox = Mailboxes.used(64);
    mpt.encode(mailbox);
    assertThat(Mailboxes.hex(mailbox)).isEqualTo(bytes.replace(" ", ""));
    assertThat(Mpt.decode(Mailboxes.of(bytes))).isEqualTo(mpt);
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
