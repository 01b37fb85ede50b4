package org.hghca.model.rtl;

/** What the RTL keeps of a completion queue on the chip. */
final class OnChipCq {
  final int cqn;

  /** Whether it is the card's: between SW2HW_CQ and HW2SW_CQ. */
  boolean owned;

  int logSize;
  int pd;
  int key;

  /** Byte offset of the next entry; survives HW2SW_CQ and SW2HW_CQ. */
  int offset;

  OnChipCq(int cqn) {
    this.cqn = cqn;
  }
}
