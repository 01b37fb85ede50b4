package org.hghca.cm.tcp;

/** A peer offers memory for the PSN wrap that no driver offers. */
final class UnusableOfferException extends MalformedException {
  private static final long serialVersionUID = 1L;

  UnusableOfferException(String message) {
    super(message);
  }
}
