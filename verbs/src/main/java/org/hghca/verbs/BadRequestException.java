package org.hghca.verbs;

/** A work request was not posted, and none after it in its list. */
public final class BadRequestException extends VerbsException {
  private static final long serialVersionUID = 1L;

  private final int index;

  public BadRequestException(Errno errno, int index, String message) {
    super(errno, index == 0 ? message : "request %d of the list: %s".formatted(index, message));
    this.index = index;
  }

  /** The index in the list of the first request that was not posted; 0 for a single request. */
  public int index() {
    return index;
  }
}
