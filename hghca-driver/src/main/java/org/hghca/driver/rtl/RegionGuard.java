package org.hghca.driver.rtl;

import java.util.Optional;
import java.util.function.IntFunction;
import org.hghca.driver.memory.KeyedMemory;
import org.hghca.driver.rtl.ring.KeyTable;
import org.hghca.provider.Health;
import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;

/**
 * Protects memory that requests name, for a card that stops at a request whose memory was freed.
 * Thread-safe.
 */
public final class RegionGuard {
  private final KeyTable keys;
  private final IntFunction<Optional<String>> user;
  private final Health health;

  /**
   * Without memory.
   *
   * @param user the user of a key, with an outstanding request that names it, for messages
   */
  public RegionGuard(KeyTable keys, IntFunction<Optional<String>> user, Health health) {
    this.keys = keys;
    this.user = user;
    this.health = health;
  }

  public KeyTable keys() {
    return keys;
  }

  /** Lets requests name memory. */
  public void admit(KeyedMemory entry) {
    keys.put(entry);
  }

  /**
   * Ends the use of memory by requests.
   *
   * @throws VerbsException EBUSY when an outstanding request names it; nothing has changed
   */
  public void withdraw(KeyedMemory entry) {
    keys.remove(entry.key());
    if (health.isDead()) {
      return; // a dead card cannot stop
    }
    // A post that found the key before holds its ring's lock until its request is visible.
    Optional<String> found = user.apply(entry.key());
    if (found.isPresent()) {
      keys.put(entry);
      throw new VerbsException(
          Errno.EBUSY,
          "MR 0x%08x is in use by requests of %s that are not complete: poll until they are, or reset the queue pair"
              .formatted(entry.key(), found.get()));
    }
  }
}
