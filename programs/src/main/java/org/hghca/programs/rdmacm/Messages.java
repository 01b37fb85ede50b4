package org.hghca.programs.rdmacm;

/**
 * How many messages a connection carries in each direction.
 *
 * @param count 0 or more
 * @param size bytes of each
 */
public record Messages(int count, int size) {
  /** No bytes, no messages: as the originals have it. */
  public Messages {
    count = size == 0 ? 0 : count;
  }

  /** Room for the requests of one queue, which has at least one. */
  int depth() {
    return Math.max(count, 1);
  }
}
