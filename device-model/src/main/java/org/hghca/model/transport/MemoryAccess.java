package org.hghca.model.transport;

/** What an access to registered memory needs leave for. */
public enum MemoryAccess {
  LOCAL_READ,
  LOCAL_WRITE,
  REMOTE_WRITE,
  REMOTE_READ,
  REMOTE_ATOMIC
}
