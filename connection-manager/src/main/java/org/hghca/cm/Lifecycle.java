package org.hghca.cm;

import java.util.List;
import java.util.Optional;
import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;

/**
 * Where an identifier is in its life, and where its events go. Its monitor is the lock of the
 * identifier: it guards the parts of the identifier, too.
 */
final class Lifecycle {
  private final CmId id;
  private final BacklogPlace place;
  private EventChannel channel;
  private CmState state;
  private Optional<CmEvent> failure = Optional.empty();

  Lifecycle(CmId id, EventChannel channel, CmState state, BacklogPlace place) {
    this.id = id;
    this.channel = channel;
    this.state = state;
    this.place = place;
  }

  synchronized EventChannel channel() {
    return channel;
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

  private void requireOpen() {
    if (state == CmState.CLOSED) {
      throw new VerbsException(Errno.EINVAL, "the identifier is closed");
    }
  }

  /**
   * Something that is not established fails, which the event reports. Says whether there was
   * something.
   */
  synchronized boolean fails(CmEvent event) {
    place.failed();
    boolean fails =
        moves(CmState.REQUESTED, CmState.FAILED)
            || moves(CmState.CONNECTING, CmState.FAILED)
            || moves(CmState.RESPONDED, CmState.FAILED)
            || moves(CmState.ACCEPTING, CmState.FAILED);
    if (fails) {
      failure = Optional.of(event);
      post(event);
    }
    return fails;
  }

  /** Why it failed, if its peer, its carrier or its device made it fail. */
  synchronized Optional<VerbsException> failure() {
    return failure.map(CmEvent::failure);
  }

  /** The peer does not answer, of which an event tells if something was not established. */
  synchronized void unreachable(String message) {
    fails(failure(CmEventType.UNREACHABLE, -Errno.ETIMEDOUT.number(), message));
  }

  /** An event of the identifier. */
  CmEvent event(CmEventType type) {
    return CmEvent.of(id, type);
  }

  /** A failure of the identifier. */
  CmEvent failure(CmEventType type, int status, String message) {
    return CmEvent.failure(id, type, status, message);
  }

  /** A failed verb. */
  CmEvent failure(CmEventType type, VerbsException cause) {
    return failure(type, -cause.errno().number(), cause.getMessage());
  }

  /** Queues an event, unless the identifier is closed. */
  synchronized void post(CmEvent event) {
    if (state != CmState.CLOSED) {
      channel.post(event);
    }
  }

  /** Removes the first of its events, for one that was taken instead. */
  synchronized Optional<CmEvent> firstUntaken() {
    return channel.removeFirstOf(id);
  }

  /** Its events that were not taken. */
  synchronized List<CmEvent> untaken() {
    return channel.eventsOf(id);
  }

  /** Drops events, as if they had not come. */
  synchronized void drop(List<CmEvent> events) {
    channel.drop(events);
  }

  /** Moves to another channel, with the events that were not taken. */
  synchronized void migrate(EventChannel to) {
    requireOpen();
    to.add(id);
    channel.remove(id);
    List<CmEvent> moved = channel.removeOf(id);
    channel = to;
    moved.forEach(to::post);
  }

  @Override
  public String toString() {
    return id.toString();
  }
}
