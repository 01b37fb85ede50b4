package org.hghca.driver;

/**
 * Somebody who has to look at what polling has found, when the lock of the completion queue is
 * free: one of a list of such.
 */
interface Due {

  /**
   * Looks, and so may those behind it in the list. Under no lock.
   *
   * @return the rest of the list; null for none
   */
  Due serve();

  /** Has all of a list look. Under no lock. */
  static void serveAll(Due first) {
    for (Due due = first; due != null; due = due.serve()) {}
  }
}
