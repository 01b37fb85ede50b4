package org.hghca.provider.queue;

import java.util.concurrent.atomic.AtomicReference;

/**
 * Detects concurrent use by two threads of an object for a single owner. It is only called in
 * assertions, so that it costs nothing unless they are enabled.
 */
public final class OwnerCheck {
  private final String what;
  private final AtomicReference<Thread> inside = new AtomicReference<>();

  /** A check for the object with this name. */
  public OwnerCheck(String what) {
    this.what = what;
  }

  /**
   * A thread begins to use it.
   *
   * @return true, for an assertion
   * @throws IllegalStateException when another uses it
   */
  public boolean begin() {
    Thread me = Thread.currentThread();
    Thread other = inside.compareAndExchange(null, me);
    if (other != null) {
      throw new IllegalStateException(
          ("%s was made for a single owner, but threads '%s' and '%s' use it at once: let one of"
                  + " them post, or leave out singleOwner()")
              .formatted(what, other.getName(), me.getName()));
    }
    return true;
  }

  /**
   * The thread has used it.
   *
   * @return true, for an assertion
   */
  public boolean end() {
    inside.set(null);
    return true;
  }
}
