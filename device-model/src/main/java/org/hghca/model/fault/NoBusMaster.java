package org.hghca.model.fault;

/** The card's accesses to memory stay disabled. */
final class NoBusMaster extends Injection {
  @Override
  boolean seesBusMaster() {
    return false;
  }
}
