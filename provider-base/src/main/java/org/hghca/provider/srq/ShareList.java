package org.hghca.provider.srq;

/** Shares that wait for requests, first come first served; each is in one list at most. */
final class ShareList {
  private ReceiveShare first;
  private ReceiveShare last;

  boolean isEmpty() {
    return first == null;
  }

  void addLast(ReceiveShare share) {
    share.list = this;
    share.previous = last;
    share.next = null;
    if (last == null) {
      first = share;
    } else {
      last.next = share;
    }
    last = share;
  }

  void remove(ReceiveShare share) {
    if (share.previous == null) {
      first = share.next;
    } else {
      share.previous.next = share.next;
    }
    if (share.next == null) {
      last = share.previous;
    } else {
      share.next.previous = share.previous;
    }
    share.list = null;
    share.previous = null;
    share.next = null;
  }

  ReceiveShare removeFirst() {
    ReceiveShare share = first;
    remove(share);
    return share;
  }
}
