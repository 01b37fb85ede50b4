package org.hghca.model.fault;

/**
 * What an access to host memory is for.
 *
 * @param use what the card does there
 * @param offset bytes from the beginning of an answer, -1 for the byte in front of it that is the
 *     result of a virtio command; 0 for other uses
 * @param size bytes of the whole answer; 0 for other uses
 * @param ring the ring of a completion or an event; null for other uses
 */
record Place(Use use, long offset, int size, Ring ring) {
  /** A place without further properties. */
  static Place of(Use use) {
    return new Place(use, 0, 0, null);
  }
}
