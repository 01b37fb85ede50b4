package org.hghca.model.fault;

import java.util.EnumSet;
import java.util.Set;

/** Writes of some uses of memory that arrive changed, or in part, or not at all. */
final class ChangedData extends Injection {
  /** The change. */
  @FunctionalInterface
  interface Change {
    /**
     * Changes the bytes of a write in place.
     *
     * @return what arrives of them: the same array, a shorter one, or an empty one
     */
    byte[] of(byte[] bytes, Place place, long iova);
  }

  private static final byte[] NOTHING = {};

  private final Set<Use> uses;
  private final Change change;

  private ChangedData(Set<Use> uses, Change change) {
    this.uses = uses;
    this.change = change;
  }

  /** Changes writes of these uses. */
  static ChangedData of(Use use, Change change) {
    return new ChangedData(EnumSet.of(use), change);
  }

  /** Changes all answers of commands. */
  static ChangedData answers(Change change) {
    return new ChangedData(EnumSet.of(Use.ANSWER, Use.LIMITS, Use.ADAPTER), change);
  }

  /** Loses writes of these uses. */
  static ChangedData lost(Use first, Use... others) {
    return new ChangedData(EnumSet.of(first, others), (bytes, place, iova) -> NOTHING);
  }

  @Override
  boolean store(Place place, long iova, byte[] bytes) {
    return store(iova, uses.contains(place.use()) ? change.of(bytes, place, iova) : bytes);
  }
}
