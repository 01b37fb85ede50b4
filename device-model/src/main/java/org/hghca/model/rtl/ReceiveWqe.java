package org.hghca.model.rtl;

/** A receive WQE as the card has taken it from its queue. */
public final class ReceiveWqe {
  /** Byte offset in the receive queue. */
  public int offset;

  /** How often the queue pair had been in RESET when it was fetched. */
  public int life;

  public final SgeList data = new SgeList();

  public void copy(ReceiveWqe other) {
    offset = other.offset;
    life = other.life;
    data.copy(other.data);
  }
}
