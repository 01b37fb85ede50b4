package org.hghca.driver.rtl.ring;

import java.util.ArrayList;
import java.util.List;
import org.hghca.verbs.QpType;

/** A card that holds 40 doorbells, and the rings that share it. */
abstract class WithQuota {
  static final int MOST = 40;

  final DoorbellQuota inFlight = QuotaRing.inFlight(MOST);
  final List<QuotaRing> rings = new ArrayList<>();

  QuotaRing ring() {
    QuotaRing ring = new QuotaRing(QpType.RC, inFlight);
    rings.add(ring);
    return ring;
  }

  int rung() {
    return rings.stream().mapToInt(ring -> ring.doorbells.size()).sum();
  }
}
