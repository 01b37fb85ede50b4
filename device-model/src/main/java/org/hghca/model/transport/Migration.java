package org.hghca.model.transport;

/** Path migration of a connection, in the order of the numbers of libibverbs. */
public enum Migration {
  /** It has migrated, or has had no alternate path yet. */
  MIGRATED,

  /** It has an alternate path, but no packet has told that the peer has one too. */
  REARM,

  /** Both sides have alternate paths. */
  ARMED;

  private static final Migration[] VALUES = values();

  /** The state with a number; MIGRATED for one that does not exist. */
  public static Migration of(int number) {
    return number < VALUES.length ? VALUES[number] : MIGRATED;
  }
}
