package org.hghca.model.rtl;

/** A receive WQE as the card has taken it from its queue. */
final class ReceiveWqe {
  /** Byte offset in the receive queue. */
  int offset;

  /** How often the queue pair had been in RESET when it was fetched. */
  int life;

  final SgeList data = new SgeList();

  void copy(ReceiveWqe other) {
    offset = other.offset;
    life = other.life;
    data.copy(other.data);
  }
}
