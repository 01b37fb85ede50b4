package org.hghca.model.rtl;

/** The on-chip state of a completion queue in the RTL. */
final class OnChipCq {
  final int cqn;

  /** Whether the card owns it: between SW2HW_CQ and HW2SW_CQ. */
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
