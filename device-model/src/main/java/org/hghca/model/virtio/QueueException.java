package org.hghca.model.virtio;

/** The driver has broken a rule of the virtqueues: the card needs a reset. */
final class QueueException extends Exception {
  private static final long serialVersionUID = 1;

  QueueException(String message) {
    super(message);
  }
}
