package org.hghca.model.virtio;

import java.util.Optional;
import java.util.SplittableRandom;

/** The objects of the RoCE half by their numbers. Used in steps of the card. */
final class RoceObjects {
  /** The number of the queue pair of general services. */
  static final int GSI_QPN = 1;

  private static final int FIRST = 0;
  private static final int FIRST_QPN = 2;
  private static final int KEY_BITS = 8;

  final Numbers<RoceDomain> domains = new Numbers<>(FIRST, RoceLimits.PDS);
  final Numbers<RoceRegion> regions = new Numbers<>(FIRST, RoceLimits.REGIONS);
  final Numbers<RoceCompletionQueue> completions = new Numbers<>(FIRST, RoceLimits.CQS);
  final Numbers<RoceHandle> handles = new Numbers<>(FIRST, RoceLimits.HANDLES);
  final RoceGids gids = new RoceGids();

  /** They begin anywhere: peers may hold connections to the numbers of the program before. */
  private final Numbers<RoceQueuePair> pairs =
      new Numbers<>(FIRST_QPN, RoceLimits.QPS, new SplittableRandom()::nextInt);

  private final Numbers<RoceQueuePair> services = new Numbers<>(GSI_QPN, GSI_QPN + 1);

  void clear() {
    domains.clear();
    regions.clear();
    completions.clear();
    handles.clear();
    gids.clear();
    pairs.clear();
    services.clear();
  }

  /** Among which queue pairs one of a type gets its number. */
  Numbers<RoceQueuePair> pairs(boolean isService) {
    return isService ? services : pairs;
  }

  /** The queue pair of a number, which may be any. */
  Optional<RoceQueuePair> pair(int qpn) {
    return pairs(qpn == GSI_QPN).get(qpn);
  }

  /** The key of a region by its number, whose lower bits are any: never 0, which is no key. */
  static int key(int mrn, int random) {
    int key = mrn << KEY_BITS | random & (1 << KEY_BITS) - 1;
    return key == 0 ? 1 : key;
  }

  /** The region that a key, which may be any, would be of. */
  Optional<RoceRegion> region(int key) {
    return regions.get(key >>> KEY_BITS);
  }
}
