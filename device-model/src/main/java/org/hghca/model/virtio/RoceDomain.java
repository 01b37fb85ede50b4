package org.hghca.model.virtio;

/** A protection domain. */
final class RoceDomain {
  /** Queue pairs, regions and address handles in it: it stays as long as there are any. */
  int users;
}
