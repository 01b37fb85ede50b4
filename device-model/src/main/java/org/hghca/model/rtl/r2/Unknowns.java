package org.hghca.model.rtl.r2;

import java.util.SplittableRandom;

/**
 * What nobody knows of the second RTL, as bits: they vary from one place to the next, and each has
 * the same ones in every run, however its threads took turns.
 *
 * @param seed selects them
 */
record Unknowns(long seed) {
  /**
   * The bits of a place.
   *
   * @param number of the queue or queue pair
   * @param place in its ring or its history
   */
  int at(int number, int place) {
    return new SplittableRandom(seed ^ ((long) number << Integer.SIZE | place)).nextInt();
  }
}
