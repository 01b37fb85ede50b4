package org.hghca.cm;

import java.util.Optional;

/**
 * The place of a request in the backlog of its listener: until the request is answered or closed,
 * or has failed and was taken by the program. Guarded by the monitor of the request's {@link
 * Lifecycle}.
 */
final class BacklogPlace {
  private Optional<Runnable> release;
  private boolean taken;

  private BacklogPlace(Optional<Runnable> release) {
    this.release = release;
  }

  /** Of an identifier that is no request. */
  static BacklogPlace none() {
    return new BacklogPlace(Optional.empty());
  }

  /** Of a request for which a listener has counted one, until it is released. */
  static BacklogPlace of(Runnable release) {
    return new BacklogPlace(Optional.of(release));
  }

  /** The program has taken the request. */
  void onTaken(boolean failed) {
    taken = true;
    if (failed) {
      leave();
    }
  }

  /** The request has failed: it keeps its place until it is taken. */
  void failed() {
    if (taken) {
      leave();
    }
  }

  /** The request waits no more. */
  void leave() {
    release.ifPresent(Runnable::run);
    release = Optional.empty();
  }
}
