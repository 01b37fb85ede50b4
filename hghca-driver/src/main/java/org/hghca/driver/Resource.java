package org.hghca.driver;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;

/**
 * Something that is made, used by others and closed: idempotently, and not while it is used or an
 * event of it was taken and not acknowledged. What uses it is known by name.
 */
abstract class Resource implements AutoCloseable {
  private final List<Resource> used;
  private final Set<Resource> users = new LinkedHashSet<>();
  private final Set<HghcaAsyncEvent> unacknowledged = new LinkedHashSet<>();

  /** Held for moments only, unlike the monitors of those who are one of these. */
  private final Object guard = new Object();

  private volatile boolean closed;

  /**
   * A resource that uses others; they cannot be closed before it.
   *
   * @throws VerbsException EINVAL when one of them is closed
   */
  Resource(Resource... used) {
    this.used = List.of(used);
    int held = 0;
    try {
      for (Resource resource : used) {
        resource.addUser(this);
        held++;
      }
    } finally {
      if (held < used.length) {
        for (int i = 0; i < held; i++) {
          used[i].removeUser(this);
        }
      }
    }
  }

  /** What it is called in messages. */
  abstract String describe();

  /** Gives back what it holds; called once. */
  abstract void release();

  private void addUser(Resource user) {
    synchronized (guard) {
      checkOpen();
      users.add(user);
    }
  }

  private void removeUser(Resource user) {
    synchronized (guard) {
      users.remove(user);
    }
  }

  /** An event was taken: until it is let go this cannot be closed; false when it is closed. */
  final boolean hold(HghcaAsyncEvent event) {
    synchronized (guard) {
      return !closed && unacknowledged.add(event);
    }
  }

  final void letGo(HghcaAsyncEvent event) {
    synchronized (guard) {
      unacknowledged.remove(event);
    }
  }

  final boolean isClosed() {
    return closed;
  }

  final void checkOpen() {
    if (closed) {
      throw new VerbsException(Errno.EINVAL, describe() + " is closed");
    }
  }

  /** Takes back a construction that failed: nothing was released yet, nobody uses it. */
  final void abandon() {
    closed = true;
    used.forEach(resource -> resource.removeUser(this));
  }

  @Override
  public final void close() {
    synchronized (guard) {
      if (closed) {
        return;
      }
      if (!users.isEmpty()) {
        throw new VerbsException(
            Errno.EBUSY,
            "%s is in use by %s: close them first"
                .formatted(
                    describe(),
                    users.stream().map(Resource::describe).collect(Collectors.joining(", "))));
      }
      if (!unacknowledged.isEmpty()) {
        throw new VerbsException(
            Errno.EBUSY,
            "%s has events that were not acknowledged: %s: acknowledge them first"
                .formatted(
                    describe(),
                    unacknowledged.stream()
                        .map(event -> event.type().symbol())
                        .collect(Collectors.joining(", "))));
      }
      closed = true;
    }
    try {
      release();
    } finally {
      used.forEach(resource -> resource.removeUser(this));
    }
  }
}
