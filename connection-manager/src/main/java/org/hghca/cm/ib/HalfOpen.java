package org.hghca.cm.ib;

import java.util.HashMap;
import java.util.Map;
import org.hghca.verbs.Gid;

/**
 * How many things of peers wait, of each address and in all: one address cannot take the places of
 * all others. Used under the agent's lock.
 */
final class HalfOpen {

  /** Maximum number in all; further ones are dropped. */
  static final int MOST = 4096;

  /** Maximum number of one address: more than a thousand that come at once. */
  static final int OF_ONE = 1024;

  private final Map<Gid, Integer> byPeer = new HashMap<>();
  private int all;

  boolean isFullFor(Gid peer) {
    return all >= MOST || byPeer.getOrDefault(peer, 0) >= OF_ONE;
  }

  void add(Gid peer) {
    byPeer.merge(peer, 1, Integer::sum);
    all++;
  }

  void remove(Gid peer) {
    byPeer.computeIfPresent(peer, (_, number) -> number == 1 ? null : number - 1);
    all--;
  }

  void clear() {
    byPeer.clear();
    all = 0;
  }

  int size() {
    return all;
  }
}
