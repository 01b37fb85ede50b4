package org.hghca.tools.raw;

import java.util.Locale;
import java.util.Optional;
import org.hghca.abi.CompletionQueueContext;
import org.hghca.abi.EventQueueContext;
import org.hghca.abi.HcrCommand;
import org.hghca.abi.MailboxLayout;
import org.hghca.abi.Mpt;
import org.hghca.abi.QueuePairContext;
import org.hghca.abi.SrqContext;

/** A kind of object of a card that has a context. */
public enum CardObject {
  /** A queue pair. */
  QP(QueuePairContext.LAYOUT),
  /** A completion queue. */
  CQ(CompletionQueueContext.LAYOUT),
  /** An event queue. */
  EQ(EventQueueContext.LAYOUT),
  /** An entry of the memory protection table. */
  MPT(Mpt.LAYOUT),
  /** A shared receive queue. */
  SRQ(SrqContext.LAYOUT);

  private final MailboxLayout layout;

  CardObject(MailboxLayout layout) {
    this.layout = layout;
  }

  /** Its context. */
  public MailboxLayout layout() {
    return layout;
  }

  /** The kind that a command changes, whose in_modifier is its number. */
  static Optional<CardObject> of(HcrCommand command) {
    return switch (command) {
      case SW2HW_CQ, HW2SW_CQ, RESIZE_CQ -> Optional.of(CQ);
      case SW2HW_EQ, HW2SW_EQ -> Optional.of(EQ);
      case SW2HW_MPT, HW2SW_MPT -> Optional.of(MPT);
      case SW2HW_SRQ, HW2SW_SRQ, RESIZE_SRQ, ARM_SRQ -> Optional.of(SRQ);
      default -> command.isModifyQp() ? Optional.of(QP) : Optional.empty();
    };
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
