package org.hghca.verbs;

/** Checks that a value fits the field of a packet or an attribute. */
final class FieldRange {

  private FieldRange() {}

  /**
   * Checks a value.
   *
   * @return the value
   * @throws VerbsException EINVAL when it does not fit
   */
  static int check(Object what, int value, int bits) {
    if (value >>> bits != 0) {
      throw new VerbsException(
          Errno.EINVAL, "%s %d does not fit in %d bits".formatted(what, value, bits));
    }
    return value;
  }
}
