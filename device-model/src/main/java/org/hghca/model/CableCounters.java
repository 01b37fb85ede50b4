package org.hghca.model;

/**
 * The packet counters of a cable since its creation, for both directions together, or of the way
 * from a hub to an HCA.
 *
 * @param carried packets given to it
 * @param dropped packets and duplicates that it lost
 * @param duplicated duplicates that it made
 * @param reordered packets and duplicates that it held back for later ones to overtake
 * @param delayed packets and duplicates that it held back for a time
 * @param corrupted packets and duplicates in which it flipped a bit
 */
public record CableCounters(
    long carried, long dropped, long duplicated, long reordered, long delayed, long corrupted) {

  CableCounters plus(CableCounters other) {
    return new CableCounters(
        carried + other.carried,
        dropped + other.dropped,
        duplicated + other.duplicated,
        reordered + other.reordered,
        delayed + other.delayed,
        corrupted + other.corrupted);
  }
}
