package org.hghca.provider;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;

/**
 * An object that is created, used by others and closed: idempotently, and not while others use it
 * or hold claims on it. Its users are known by name once they are complete.
 */
public abstract class Resource implements AutoCloseable {
  private volatile List<Resource> used;
  private final Set<Resource> users = new LinkedHashSet<>();

  /** Number of objects under construction that use this one. */
  private int constructions;

  private final Set<Claim> claims = new LinkedHashSet<>();

  /** Held only briefly, unlike the monitors of the resources themselves. */
  private final Object guard = new Object();

  private volatile boolean published;
  private volatile boolean closed;

  /** A claim on a resource, which cannot be closed before the claim is released. */
  public interface Claim {
    /** The word for it in messages. */
    String label();

    /**
     * Why a resource cannot be closed, and the fix, after its name in a message.
     *
     * @param labels of all claims of its kind
     */
    String refusal(String labels);
  }

  /**
   * A resource that uses others; they cannot be closed before it. A construction ends with {@link
   * #publish} or with {@link #abandon}.
   *
   * @throws VerbsException EINVAL when one of them is closed
   */
  protected Resource(Resource... used) {
    this.used = List.of(used);
    int held = 0;
    try {
      for (Resource resource : used) {
        resource.beginConstruction();
        held++;
      }
    } finally {
      if (held < used.length) {
        for (int i = 0; i < held; i++) {
          used[i].endConstruction();
        }
      }
    }
  }

  /** Its name in messages. */
  public abstract String describe();

  /** Its state, for logs and debuggers; read without a lock. */
  protected String standing() {
    return "open";
  }

  /** Its name and its state. */
  @Override
  public final String toString() {
    return "%s: %s".formatted(describe(), closed ? "closed" : standing());
  }

  /** Releases its parts; called once. */
  protected abstract void release();

  /**
   * Releases parts that others than resources may still hold; if it throws, everything stays open.
   */
  protected void prepareRelease() {}

  private void beginConstruction() {
    synchronized (guard) {
      checkOpen();
      constructions++;
    }
  }

  private void endConstruction() {
    synchronized (guard) {
      constructions--;
    }
  }

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

  /** Adds a claim: until it is released this cannot be closed; false if it is already closed. */
  public final boolean hold(Claim claim) {
    synchronized (guard) {
      return !closed && claims.add(claim);
    }
  }

  public final void releaseClaim(Claim claim) {
    synchronized (guard) {
      claims.remove(claim);
    }
  }

  /**
   * Uses another resource, in addition to the current ones. Not while this is being closed.
   *
   * @throws VerbsException EINVAL when the other is closed
   */
  protected final void use(Resource other) {
    other.addUser(this);
    used = Stream.concat(used.stream(), Stream.of(other)).toList();
  }

  /** Stops using a resource. */
  protected final void useNoMore(Resource other) {
    List<Resource> left = new ArrayList<>(used);
    left.remove(other);
    used = List.copyOf(left);
    other.removeUser(this);
  }

  public final boolean isClosed() {
    return closed;
  }

  public final void checkOpen() {
    if (closed) {
      throw new VerbsException(Errno.EINVAL, describe() + " is closed");
    }
  }

  /** Completes the construction and makes this known by name: the last step of a constructor. */
  protected final void publish() {
    for (Resource resource : used) {
      synchronized (resource.guard) {
        resource.constructions--;
        resource.users.add(this);
      }
    }
    published = true;
  }

  /** Undoes a failed construction: nothing was released yet, and it has no users. */
  protected final void abandon() {
    closed = true;
    useNothing();
  }

  private void useNothing() {
    for (Resource resource : used) {
      if (published) {
        resource.removeUser(this);
      } else {
        resource.endConstruction();
      }
    }
  }

  private String userNames() {
    Stream<String> named = users.stream().map(Resource::describe);
    Stream<String> unnamed =
        constructions == 0 ? Stream.of() : Stream.of("an object that is being made");
    return Stream.concat(named, unnamed).collect(Collectors.joining(", "));
  }

  /**
   * Closes its users, theirs before them, and then itself. A user that fails to close keeps none of
   * the others open.
   */
  protected final void closeWithUsers() {
    List<Resource> open;
    synchronized (guard) {
      open = List.copyOf(users);
    }
    List<RuntimeException> failures = new ArrayList<>();
    for (Resource user : open.reversed()) {
      try {
        user.closeWithUsers();
      } catch (RuntimeException e) {
        failures.add(e);
      }
    }
    try {
      close();
    } catch (RuntimeException e) {
      failures.addFirst(e);
    }
    if (!failures.isEmpty()) {
      RuntimeException first = failures.removeFirst();
      failures.forEach(first::addSuppressed);
      throw first;
    }
  }

  @Override
  public final void close() {
    // Not during its own methods; its users are read under the guard.
    synchronized (this) {
      synchronized (guard) {
        if (closed) {
          return;
        }
        if (!users.isEmpty() || constructions != 0) {
          throw new VerbsException(
              Errno.EBUSY,
              "%s is in use by %s: close them first".formatted(describe(), userNames()));
        }
        if (!claims.isEmpty()) {
          Claim first = claims.iterator().next();
          String labels =
              claims.stream()
                  .filter(claim -> claim.getClass() == first.getClass())
                  .map(Claim::label)
                  .collect(Collectors.joining(", "));
          throw new VerbsException(
              Errno.EBUSY, "%s %s".formatted(describe(), first.refusal(labels)));
        }
        prepareRelease();
        closed = true;
      }
    }
    try {
      release();
    } catch (RuntimeException e) {
      useNothing();
      throw e;
    }
    // Not after an error, which may leave the card, or another thread, using what this one uses.
    useNothing();
  }
}
