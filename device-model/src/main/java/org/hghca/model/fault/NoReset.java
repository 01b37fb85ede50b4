package org.hghca.model.fault;

/** The function has no function-level reset. */
final class NoReset extends Injection {
  @Override
  boolean canReset() {
    return false;
  }
}
