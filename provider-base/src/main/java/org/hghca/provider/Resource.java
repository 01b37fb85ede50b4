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
 * Something that is made, used by others and closed: idempotently, and not while it is used or
 * something was taken of it and not given back. What uses it is known by name once it is complete.
 */
public abstract class Resource implements AutoCloseable {
  private volatile List<Resource> used;
  private final Set<Resource> users = new LinkedHashSet<>();

  /** How many objects that use this one are being made. */
  private int constructions;

  private final Set<Claim> claims = new LinkedHashSet<>();

  /** Held for moments only, unlike the monitors of those who are one of these. */
  private final Object guard = new Object();

  private volatile boolean published;
  private volatile boolean closed;

  /** What somebody has taken of a resource, which cannot be closed before it is given back. */
  public interface Claim {
    /** The word for it in messages. */
    String label();

    /**
     * Why a resource cannot be closed, and what to do, behind its name in a message.
     *
     * @param labels of all that was taken
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

  /** What it is called in messages. */
  public abstract String describe();

  /** How it stands, for logs and debuggers; read without a lock. */
  protected String standing() {
    return "open";
  }

  /** What it is called, and how it stands. */
  @Override
  public final String toString() {
    return "%s: %s".formatted(describe(), closed ? "closed" : standing());
  }

  /** Gives back what it holds; called once. */
  protected abstract void release();

  /**
   * Lets go of what may still be held by others than resources; where it throws, all stays open.
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

  /** Something was taken: until it is let go this cannot be closed; false when it is closed. */
  public final boolean hold(Claim claim) {
    synchronized (guard) {
      return !closed && claims.add(claim);
    }
  }

  public final void letGo(Claim claim) {
    synchronized (guard) {
      claims.remove(claim);
    }
  }

  /**
   * Uses another resource, beside those that it uses already. Not while this is closed.
   *
   * @throws VerbsException EINVAL when the other is closed
   */
  protected final void use(Resource other) {
    other.addUser(this);
    used = Stream.concat(used.stream(), Stream.of(other)).toList();
  }

  /** Uses a resource no longer. */
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

  /** The construction is complete, and this is known by name: the last step of a constructor. */
  protected final void publish() {
    for (Resource resource : used) {
      synchronized (resource.guard) {
        resource.constructions--;
        resource.users.add(this);
      }
    }
    published = true;
  }

  /** Takes back a construction that failed: nothing was released yet, nobody uses it. */
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

  @Override
  public final void close() {
    // Not in the middle of what its own methods do; who uses it is known under the guard.
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
          String labels = claims.stream().map(Claim::label).collect(Collectors.joining(", "));
          throw new VerbsException(
              Errno.EBUSY, "%s %s".formatted(describe(), claims.iterator().next().refusal(labels)));
        }
        prepareRelease();
        closed = true;
      }
    }
    try {
      release();
    } finally {
      useNothing();
    }
  }
}
