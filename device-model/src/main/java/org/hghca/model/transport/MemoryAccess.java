package org.hghca.model.transport;

/** The permission that an access to registered memory needs. */
public enum MemoryAccess {
  LOCAL_READ,
  LOCAL_WRITE,
  REMOTE_WRITE,
  REMOTE_READ,
  REMOTE_ATOMIC
}
