package org.hghca.model.transport;

/** The result of an access to registered memory. */
public enum MemoryStatus {
  OK,
  /** Key, protection domain, bounds or permission do not allow it. */
  DENIED,
  /** It is allowed, but the host refused the access. */
  FAULT
}
