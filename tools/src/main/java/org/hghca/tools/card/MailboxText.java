package org.hghca.tools.card;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.hghca.abi.AdapterInfo;
import org.hghca.abi.DeviceExtension;
import org.hghca.abi.DeviceLimits;
import org.hghca.abi.HcrCommand;
import org.hghca.abi.MailboxField;
import org.hghca.abi.MailboxLayout;
import org.hghca.abi.MulticastGroup;
import org.hghca.abi.PortInfo;
import org.hghca.abi.QpcServiceType;
import org.hghca.abi.QpcState;
import org.hghca.abi.QueuePairContext;
import org.hghca.abi.SrqContext;
import org.hghca.tools.card.fields.Fields;
import org.hghca.tools.card.fields.Shown;

/** Mailboxes by the names of their fields. */
public final class MailboxText {
  private MailboxText() {}

  /** The layout of what a command answers; empty when it is not known. */
  private static Optional<MailboxLayout> outbox(HcrCommand command) {
    return switch (command) {
      case QUERY_DEV_LIM -> Optional.of(DeviceLimits.LAYOUT);
      case QUERY_ADAPTER -> Optional.of(AdapterInfo.LAYOUT);
      case QUERY_QP -> Optional.of(QueuePairContext.LAYOUT);
      case QUERY_SRQ -> Optional.of(SrqContext.LAYOUT);
      case MAD_IFC -> Optional.of(PortInfo.LAYOUT);
      default -> Optional.empty();
    };
  }

  /**
   * What the card has answered.
   *
   * @param command null for an opcode that is in no table
   * @param bytes at least those of its outbox
   */
  static Fields answer(HcrCommand command, byte[] bytes) {
    Optional<MailboxLayout> layout = command == null ? Optional.empty() : outbox(command);
    if (layout.isPresent() && bytes.length >= layout.get().size()) {
      return answer(command, layout.get(), MemorySegment.ofArray(bytes));
    }
    Fields fields = new Fields();
    if (command == HcrCommand.READ_MGM && bytes.length >= MulticastGroup.LAYOUT.size()) {
      fields.put("group", MulticastGroup.describe(MemorySegment.ofArray(bytes)));
    }
    return fields.put("bytes", Shown.bytes(bytes));
  }

  /** The fields of what the card has answered; empty without a known layout. */
  public static Fields fields(HcrCommand command, byte[] bytes) {
    return answer(command, bytes).get("fields") instanceof Fields fields ? fields : new Fields();
  }

  private static Fields answer(HcrCommand command, MailboxLayout layout, MemorySegment mailbox) {
    Fields fields = of(layout, mailbox);
    if (command == HcrCommand.QUERY_DEV_LIM) {
      List<String> announced =
          DeviceExtension.announced(mailbox).stream().map(DeviceExtension::name).toList();
      fields.put("extensions", announced);
    }
    return new Fields().put("layout", layout.name()).put("fields", fields);
  }

  /** All fields of a body. */
  static Fields of(MailboxLayout layout, MemorySegment mailbox) {
    Fields fields = new Fields();
    layout.fields().forEach(field -> fields.put(field.name(), value(field, mailbox)));
    return fields;
  }

  /** One field, with its name where it has one. */
  static Shown value(MailboxField field, MemorySegment mailbox) {
    long value = field.getLong(mailbox);
    if (field.equals(QueuePairContext.STATE)) {
      return Shown.named(value, QpcState.name((int) value));
    }
    if (field.equals(QueuePairContext.SERVICE_TYPE)) {
      return Shown.named(value, QpcServiceType.name((int) value));
    }
    return Shown.number(value);
  }

  /** Bytes without the zeros at their end, in whole lines of a dump. */
  static byte[] withoutZeros(byte[] bytes, int line) {
    int end = bytes.length;
    while (end > 0 && bytes[end - 1] == 0) {
      end--;
    }
    return Arrays.copyOf(bytes, Math.min(bytes.length, (end + line - 1) / line * line));
  }
}
