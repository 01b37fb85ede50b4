package org.hghca.verbs;

/** Where a connection is with its alternate path: the numbers of {@code ibv_mig_state}. */
public enum PathMigrationState {
  /** It has migrated, or has never had an alternate path. Setting it in ARMED migrates. */
  MIGRATED(0),

  /**
   * This side has an alternate path. The device goes to ARMED by itself as soon as a packet of the
   * peer has told that it has one, too.
   */
  REARM(1),

  /** Both sides have alternate paths. Only the device sets it. */
  ARMED(2);

  private final int code;

  PathMigrationState(int code) {
    this.code = code;
  }

  /** The number in libibverbs. */
  public int code() {
    return code;
  }
}
