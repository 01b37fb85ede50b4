package org.hghca.abi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

class MailboxLayoutTest {
  private static final MailboxField HIGH = MailboxField.bits("high", 0x00, 31, 16);
  private static final MailboxField LOW = MailboxField.bits("low", 0x00, 15, 0);
  private static final MailboxField ADDRESS = MailboxField.qword("address", 0x04, 63, 12);

  private static MailboxLayout layout(int size, MailboxField... fields) {
    return MailboxLayout.of("BODY", "table 1", size, fields);
  }

  @Test
  void describeNamesTheFieldsThatAreNotZero() {
    MailboxLayout layout = layout(12, HIGH, LOW, ADDRESS);
    MemorySegment mailbox = Mailboxes.of("0000beef 00000001 20003fff");
    assertThat(layout.describe(mailbox)).isEqualTo("low=0xbeef address=0x120003000");
    assertThat(layout.describe(Mailboxes.of("00000000 00000000 00000fff"))).isEmpty();
  }

  @Test
  void describeTakesABase() {
    assertThat(layout(4, HIGH, LOW).describe(Mailboxes.of("ffffffff 00010000"), 4))
        .isEqualTo("high=0x1");
  }

  @Test
  void clearWritesOnlyTheBody() {
    MemorySegment mailbox = Mailboxes.of("ffffffff ffffffff");
    layout(4, HIGH).clear(mailbox);
    assertThat(Mailboxes.hex(mailbox)).isEqualTo("00000000ffffffff");
  }

  @Test
  void fieldsThatShareABitAreRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> layout(4, HIGH, MailboxField.bits("mid", 0x00, 16, 15)))
        .withMessageContaining("mid 00h[16:15] overlaps");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> layout(12, ADDRESS, MailboxField.bits("pages", 0x08, 12, 0)))
        .withMessageContaining("pages");
    assertThat(layout(12, ADDRESS, MailboxField.bits("pages", 0x08, 11, 0)).fields()).hasSize(2);
  }

  @Test
  void fieldsOfOneNameAreRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> layout(8, HIGH, MailboxField.dword("high", 4)))
        .withMessageContaining("high");
  }

  @Test
  void fieldBehindTheBodyIsRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> layout(8, ADDRESS))
        .withMessageContaining("address");
  }
}
