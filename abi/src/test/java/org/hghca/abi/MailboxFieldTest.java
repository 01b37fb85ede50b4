package org.hghca.abi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;

class MailboxFieldTest {
  private static final MailboxField STATE = MailboxField.bits("state", 0x08, 31, 28);
  private static final MailboxField QPN = MailboxField.dword("qpn", 0x04);
  private static final MailboxField START = MailboxField.qword("start", 0x04);
  private static final MailboxField BASE = MailboxField.qword("base", 0x08, 63, 8);

  @Test
  void bitsOfADwordAreRightJustified() {
    assertThat(STATE.get(Mailboxes.of("00000000 00000000 3abcdef0"))).isEqualTo(3);
  }

  @Test
  void dwordIsBigEndian() {
    MemorySegment mailbox = Mailboxes.of("00000000 00000000");
    QPN.set(mailbox, 0x01020304);
    assertThat(Mailboxes.hex(mailbox)).isEqualTo("0000000001020304");
    assertThat(QPN.get(mailbox)).isEqualTo(0x01020304);
  }

  @Test
  void qwordHasTheHighDwordFirstAndNeedsNoAlignment() {
    MemorySegment mailbox = Mailboxes.of("ffffffff 00000000 00000000");
    START.setLong(mailbox, 0x0102030405060708L);
    assertThat(Mailboxes.hex(mailbox)).isEqualTo("ffffffff0102030405060708");
    assertThat(START.getLong(mailbox)).isEqualTo(0x0102030405060708L);
  }

  @Test
  void rangeOfAQwordKeepsItsPositionAndTheLowBits() {
    MemorySegment mailbox = Mailboxes.of("00000000 00000000 00000000 0000000e");
    BASE.setLong(mailbox, 0xFEDCBA9876543200L);
    assertThat(Mailboxes.hex(mailbox)).isEqualTo("0000000000000000fedcba987654320e");
    assertThat(BASE.getLong(mailbox)).isEqualTo(0xFEDCBA9876543200L);
  }

  @Test
  void writingKeepsNeighboringBits() {
    MemorySegment ones = Mailboxes.of("ffffffff ffffffff ffffffff ffffffff");
    STATE.set(ones, 0x5);
    assertThat(Mailboxes.hex(ones)).isEqualTo("ffffffffffffffff5fffffffffffffff");

    MemorySegment zeros = Mailboxes.of("00000000 00000000 00000000 00000000");
    STATE.set(zeros, 0xF);
    assertThat(Mailboxes.hex(zeros)).isEqualTo("0000000000000000f000000000000000");
  }

  @Test
  void valueTooWideForBitsIsRejectedAndNothingWritten() {
    MemorySegment mailbox = Mailboxes.of("00000000 00000000 30000000");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> STATE.set(mailbox, 0x10))
        .withMessage("state 08h[31:28] takes 4 bits, not 0x10");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> STATE.set(mailbox, -1))
        .withMessage("state 08h[31:28] takes 4 bits, not 0xffffffff");
    assertThat(Mailboxes.hex(mailbox)).isEqualTo("000000000000000030000000");
  }

  @Test
  void valueTooWideForADwordIsRejected() {
    MemorySegment mailbox = Mailboxes.of("00000000 00000000");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> QPN.setLong(mailbox, 0x1_0000_0000L))
        .withMessage("qpn 04h[31:0] takes 32 bits, not 0x100000000");
    assertThatIllegalArgumentException().isThrownBy(() -> QPN.setLong(mailbox, -1));
  }

  @Test
  void lowBitsBelowARangeOfAQwordAreRejected() {
    MemorySegment mailbox = Mailboxes.of("00000000 00000000 00000000 00000000");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> BASE.setLong(mailbox, 0x1080))
        .withMessage("base 08h[63:8] takes 56 bits, not 0x1080");
  }

  @Test
  void dwordIsUnsignedWhenReadAsLong() {
    MemorySegment mailbox = Mailboxes.of("00000000 fffffffe");
    assertThat(QPN.get(mailbox)).isEqualTo(-2);
    assertThat(QPN.getLong(mailbox)).isEqualTo(0xFFFFFFFEL);
  }

  @Test
  void baseOffsetMovesTheWholeBody() {
    MemorySegment memory = MemorySegment.ofArray(new byte[0x40]);
    STATE.set(memory, 0x13, 6);
    BASE.setLong(memory, 0x20, 0x100);
    assertThat(memory.get(ValueLayout.JAVA_BYTE, 0x1B)).isEqualTo((byte) 0x60);
    assertThat(STATE.get(memory, 0x13)).isEqualTo(6);
    assertThat(BASE.getLong(memory, 0x20)).isEqualTo(0x100);
    assertThat(STATE.get(memory)).isZero();
  }

  @Test
  void accessOfOneDwordToTwoIsRefused() {
    MemorySegment mailbox = MemorySegment.ofArray(new byte[16]);
    assertThatIllegalStateException()
        .isThrownBy(() -> START.get(mailbox))
        .withMessageContaining("getLong");
    assertThatIllegalStateException()
        .isThrownBy(() -> START.set(mailbox, 1))
        .withMessageContaining("setLong");
  }

  @Test
  void mailboxTooShortIsRefused() {
    MemorySegment mailbox = MemorySegment.ofArray(new byte[11]);
    assertThatThrownBy(() -> STATE.get(mailbox)).isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> START.setLong(mailbox, 1))
        .isInstanceOf(IndexOutOfBoundsException.class);
  }

  @Test
  void invalidRangesAreRefused() {
    assertThatIllegalArgumentException().isThrownBy(() -> MailboxField.bits("f", 0, 32, 0));
    assertThatIllegalArgumentException().isThrownBy(() -> MailboxField.bits("f", 0, 3, 4));
    assertThatIllegalArgumentException().isThrownBy(() -> MailboxField.bits("f", 0, 3, -1));
    assertThatIllegalArgumentException().isThrownBy(() -> MailboxField.bits("f", 2, 3, 0));
    assertThatIllegalArgumentException().isThrownBy(() -> MailboxField.bits("f", -4, 3, 0));
    assertThatIllegalArgumentException().isThrownBy(() -> MailboxField.qword("f", 0, 31, 0));
    assertThatIllegalArgumentException().isThrownBy(() -> MailboxField.qword("f", 0, 64, 0));
  }
}
