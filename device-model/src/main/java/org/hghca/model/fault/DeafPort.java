package org.hghca.model.fault;

/** Packets that arrive are dropped, those of the card itself among them. */
final class DeafPort extends Injection {
  @Override
  boolean step(long now) {
    boolean arrived = site().port().hasArrived();
    site().port().drain();
    return arrived;
  }
}
