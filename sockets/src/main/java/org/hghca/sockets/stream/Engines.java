package org.hghca.sockets.stream;

import java.util.ArrayList;
import java.util.List;
import org.hghca.verbs.Context;

/** The engines of a device: as many as its streams need. Thread-safe. */
final class Engines implements AutoCloseable {
  private final Context context;

  /** What wakes threads that sleep until a stream of any engine changes. */
  private final List<Runnable> sleepers = new ArrayList<>();

  /** Replaced when it changes. */
  private volatile List<Engine> engines = List.of();

  /** A stream's place in an engine. */
  record Place(Engine engine, int slot, int requests) {}

  Engines(Context context) {
    this.context = context;
  }

  /**
   * A place for a stream.
   *
   * @param requests that it may have outstanding
   * @throws org.hghca.verbs.VerbsException when the device has no completion queue left
   */
  synchronized Place enter(int requests) {
    for (Engine engine : engines) {
      int slot = engine.reserve(requests);
      if (slot >= 0) {
        return new Place(engine, slot, requests);
      }
    }
    Engine added = new Engine(context, requests);
    sleepers.forEach(added::addSleeper);
    added.settle();
    List<Engine> more = new ArrayList<>(engines);
    more.add(added);
    engines = List.copyOf(more);
    return new Place(added, added.reserve(requests), requests);
  }

  /** A stream has ended, and its queue pair is closed. All engines but one need streams. */
  synchronized void leave(Place place) {
    place.engine().release(place.slot(), place.requests());
    if (engines.size() > 1 && place.engine().isIdle()) {
      List<Engine> fewer = new ArrayList<>(engines);
      fewer.remove(place.engine());
      engines = List.copyOf(fewer);
      place.engine().close();
    }
  }

  /** {@link StreamDevice#progress}. */
  boolean progress() {
    boolean found = false;
    List<Engine> all = engines;
    for (int i = 0; i < all.size(); i++) {
      found |= all.get(i).progress();
    }
    return found;
  }

  /** {@link StreamDevice#beginPolling}. */
  void beginPolling() {
    List<Engine> all = engines;
    for (int i = 0; i < all.size(); i++) {
      all.get(i).beginPolling();
    }
  }

  /** {@link StreamDevice#beginSleep}. */
  void beginSleep(Runnable wake) {
    List<Engine> all;
    synchronized (this) {
      sleepers.add(wake);
      all = engines;
      for (int i = 0; i < all.size(); i++) {
        all.get(i).addSleeper(wake);
      }
    }
    for (int i = 0; i < all.size(); i++) {
      all.get(i).settle();
      all.get(i).leave();
    }
  }

  /** {@link StreamDevice#endSleep}. */
  void endSleep(Runnable wake) {
    List<Engine> all;
    synchronized (this) {
      sleepers.remove(wake);
      all = engines;
    }
    for (int i = 0; i < all.size(); i++) {
      all.get(i).removeSleeper(wake);
    }
  }

  @Override
  public synchronized void close() {
    engines.forEach(Engine::close);
    engines = List.of();
  }
}
