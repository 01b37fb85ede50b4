package org.hghca.cm.ib;

/** Reasons of REJ. */
final class Reason {
  static final int TIMEOUT = 4;
  static final int SERVICE_ID = 8;
  static final int TRANSPORT = 9;
  static final int STALE = 10;
  static final int GID = 12;
  static final int MTU = 26;
  static final int CONSUMER = 28;

  /** Which message is rejected or acknowledged. */
  static final int OF_REQ = 0;

  static final int OF_REP = 1;
  static final int OF_NONE = 2;

  private Reason() {}
}
