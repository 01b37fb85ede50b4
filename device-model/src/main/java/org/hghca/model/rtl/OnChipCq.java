package org.hghca.model.rtl;

/** The on-chip state of a completion queue in the RTL. */
public final class OnChipCq {
  public final int cqn;

  /** Whether the card owns it: between SW2HW_CQ and HW2SW_CQ. */
  public boolean owned;

  public int logSize;
  public int pd;
  public int key;

  /** Byte offset of the next entry; survives HW2SW_CQ and SW2HW_CQ. */
  public int offset;

  OnChipCq(int cqn) {
    this.cqn = cqn;
  }
}
