package org.hghca.provider.srq;

/**
 * An object that must be notified of polled completions after the lock of the completion queue is
 * released; an element of a list.
 */
public interface Due {

  /**
   * Notifies it, and possibly the following ones in the list. Without a lock.
   *
   * @return the rest of the list; null for none
   */
  Due serve();

  /** Notifies all of a list. Without a lock. */
  static void serveAll(Due first) {
    for (Due due = first; due != null; due = due.serve()) {}
  }
}
