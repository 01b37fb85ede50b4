package org.hghca.cm;

import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;

/**
 * Where an identifier is in its life, of which it reports. Its monitor is the lock of the
 * identifier: it guards the parts of the identifier, too.
 */
final class Lifecycle {
  private final BacklogPlace place;
  private final Consumer<Report> channel;
  private CmState state;
  private Optional<Report> failure = Optional.empty();

  /**
   * A life in its first state.
   *
   * @param channel where reports go, under the monitor of this object
   */
  Lifecycle(CmState state, BacklogPlace place, Consumer<Report> channel) {
    this.state = state;
    this.place = place;
    this.channel = channel;
  }

  synchronized CmState state() {
    return state;
  }

  /** Goes to a state, from any. */
  synchronized void to(CmState next) {
    state = next;
  }

  /** Goes from one state to another, if it is in it. */
  synchronized boolean moves(CmState from, CmState to) {
    if (state != from) {
      return false;
    }
    state = to;
    return true;
  }

  /**
   * Whether a call has a meaning in the state.
   *
   * @throws VerbsException EINVAL when it has none
   */
  synchronized void require(String what, CmState... possible) {
    if (!List.of(possible).contains(state)) {
      throw new VerbsException(
          Errno.EINVAL, "cannot %s: the identifier is %s".formatted(what, state));
    }
  }

  /**
   * Whether it is open.
   *
   * @throws VerbsException EINVAL when it is not
   */
  synchronized void requireOpen() {
    if (state == CmState.CLOSED) {
      throw new VerbsException(Errno.EINVAL, "the identifier is closed");
    }
  }

  /**
   * Something that is not established fails, which an event reports. Says whether there was
   * something.
   */
  synchronized boolean fails(Report report) {
    place.failed();
    boolean fails =
        moves(CmState.REQUESTED, CmState.FAILED)
            || moves(CmState.CONNECTING, CmState.FAILED)
            || moves(CmState.RESPONDED, CmState.FAILED)
            || moves(CmState.ACCEPTING, CmState.FAILED);
    if (fails) {
      failure = Optional.of(report);
      post(report);
    }
    return fails;
  }

  /** Why it failed, if its peer, its carrier or its device made it fail. */
  synchronized Optional<VerbsException> failure() {
    return failure.map(Report::failure);
  }

  /** The peer does not answer, of which an event tells if something was not established. */
  synchronized void unreachable(String message) {
    fails(Report.failure(CmEventType.UNREACHABLE, -Errno.ETIMEDOUT.number(), message));
  }

  /** Reports something, unless the identifier is closed. */
  synchronized void post(Report report) {
    if (state != CmState.CLOSED) {
      channel.accept(report);
    }
  }
}
