package org.hghca.model.transport;

/** How an access to registered memory ended. */
public enum MemoryStatus {
  OK,
  /** Key, protection domain, bounds or permission do not allow it. */
  DENIED,
  /** It is allowed, but the memory behind it did not answer. */
  FAULT
}
