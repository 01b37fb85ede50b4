package org.hghca.sockets;

import java.io.IOException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.IllegalSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.spi.AbstractSelectableChannel;
import java.nio.channels.spi.AbstractSelector;
import java.nio.channels.spi.SelectorProvider;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.hghca.sockets.stream.Looks;
import org.hghca.sockets.stream.StreamDevice;

/**
 * A selector of channels of ours. It keeps the keys whose channels have changed since it looked,
 * and those that were ready then: the others cost nothing. Where the platform has a part in a
 * channel, a selector of the platform has a key, too. The thread sleeps in that one, and whoever
 * makes progress at a stream wakes it.
 */
final class RdmaSelector extends AbstractSelector {
  private static final long NANOS_A_MILLISECOND = TimeUnit.MILLISECONDS.toNanos(1);

  private final SocketContext context;
  private final AbstractSelector platform;
  private final Set<SelectionKey> keys = ConcurrentHashMap.newKeySet();
  private final Set<SelectionKey> selected = new HashSet<>();
  private final Set<SelectionKey> publicKeys = Collections.unmodifiableSet(keys);
  private final Set<SelectionKey> publicSelected = new SelectedKeys(selected);

  /** Keys at which to look; a stack that is taken whole. */
  private final AtomicReference<RdmaSelectionKey> offered = new AtomicReference<>();

  /** Keys that were ready when they were last looked at. */
  private final List<RdmaSelectionKey> hot = new ArrayList<>();

  private final Consumer<SelectionKey> onPlatform = this::takePlatform;
  private final Runnable wake = this::wakeIfAsleep;
  private final Looks looks = new Looks();

  private volatile boolean woken;
  private volatile boolean asleep;

  /** Gets the keys of the selection that is under way; null when they are to be selected. */
  private Consumer<SelectionKey> action;

  private boolean selecting;

  /** What a selection has found: keys whose ready sets are new, and whether any is ready at all. */
  private int updated;

  private boolean anyReady;

  RdmaSelector(SelectorProvider provider, SocketContext context, AbstractSelector platform) {
    super(provider);
    this.context = context;
    this.platform = platform;
  }

  AbstractSelector platform() {
    return platform;
  }

  @Override
  protected SelectionKey register(AbstractSelectableChannel channel, int ops, Object attachment) {
    if (!(channel instanceof Registered registered) || !channel.provider().equals(provider())) {
      throw new IllegalSelectorException();
    }
    ensureOpen();
    RdmaSelectionKey key = new RdmaSelectionKey(this, channel, ops);
    key.attach(attachment);
    keys.add(key);
    try {
      registered.registrations().add(key);
    } catch (ClosedSelectorException e) {
      keys.remove(key);
      throw e;
    }
    return key;
  }

  @Override
  public Set<SelectionKey> keys() {
    ensureOpen();
    return publicKeys;
  }

  @Override
  public Set<SelectionKey> selectedKeys() {
    ensureOpen();
    return publicSelected;
  }

  @Override
  public int selectNow() throws IOException {
    return select(null, 0, false);
  }

  @Override
  public int select() throws IOException {
    return select(null, Long.MAX_VALUE, true);
  }

  @Override
  public int select(long timeout) throws IOException {
    return select(null, checked(timeout), true);
  }

  @Override
  public int selectNow(Consumer<SelectionKey> action) throws IOException {
    return select(Objects.requireNonNull(action), 0, false);
  }

  @Override
  public int select(Consumer<SelectionKey> action) throws IOException {
    return select(Objects.requireNonNull(action), Long.MAX_VALUE, true);
  }

  @Override
  public int select(Consumer<SelectionKey> action, long timeout) throws IOException {
    return select(Objects.requireNonNull(action), checked(timeout), true);
  }

  /** In milliseconds. */
  private static long checked(long timeout) {
    if (timeout < 0) {
      throw new IllegalArgumentException("Negative timeout");
    }
    return timeout == 0 ? Long.MAX_VALUE : timeout;
  }

  private int select(Consumer<SelectionKey> taker, long millis, boolean waits) throws IOException {
    synchronized (this) {
      ensureOpen();
      if (selecting) {
        throw new IllegalStateException("Recursive invocation");
      }
      selecting = true;
      try {
        synchronized (publicSelected) {
          updated = 0;
          anyReady = false;
          action = taker;
          dropCancelled();
          context.progress();
          look();
          if (waits) {
            await(millis);
          }
          woken = false;
          dropCancelled();
          return updated;
        }
      } finally {
        action = null;
        selecting = false;
      }
    }
  }

  /** Looks until a key is ready, the time is over, or the thread is to return. */
  private void await(long millis) throws IOException {
    long begin = System.nanoTime();
    long limit =
        millis > Long.MAX_VALUE / NANOS_A_MILLISECOND
            ? Long.MAX_VALUE
            : millis * NANOS_A_MILLISECOND;
    if (returns()) {
      return;
    }
    spin();
    while (!returns()) {
      long left = limit == Long.MAX_VALUE ? limit : limit - (System.nanoTime() - begin);
      if (left <= 0) {
        return;
      }
      sleep(left);
      context.progress();
      lookAtStreams();
    }
  }

  private boolean returns() {
    return anyReady || woken || !isOpen() || Thread.currentThread().isInterrupted();
  }

  private void spin() {
    if (!hasStreams() || !looks.looks()) {
      return;
    }
    context.beginPolling();
    long begin = System.nanoTime();
    long polled = 0;
    while (!returns()) {
      if (polled >= Looks.LONGEST) {
        looks.missed();
        return;
      }
      if (!context.progress()) {
        Looks.pause(polled);
      }
      if (offered.get() != null) {
        lookAtStreams();
      }
      polled = System.nanoTime() - begin;
    }
    looks.found();
  }

  private boolean hasStreams() {
    return keys.size() > platform.keys().size();
  }

  private void sleep(long nanos) throws IOException {
    asleep = true;
    List<StreamDevice> devices = context.beginSleep(wake);
    try {
      if (offered.get() == null && !woken) {
        platform.select(
            onPlatform, nanos == Long.MAX_VALUE ? 0 : Math.ceilDiv(nanos, NANOS_A_MILLISECOND));
      }
    } finally {
      asleep = false;
      for (int i = 0; i < devices.size(); i++) {
        devices.get(i).endSleep(wake);
      }
    }
  }

  private void look() throws IOException {
    lookAtStreams();
    if (!platform.keys().isEmpty()) {
      platform.selectNow(onPlatform);
    }
  }

  /** Looks at the keys that have changed and at those that were ready. */
  private void lookAtStreams() {
    RdmaSelectionKey key = offered.getAndSet(null);
    while (key != null) {
      RdmaSelectionKey following = key.next;
      key.next = null;
      key.queued.set(false); // before it is looked at: what changes from here on offers it again
      if (!key.hot) {
        key.hot = true;
        hot.add(key);
      }
      key = following;
    }
    for (int i = hot.size() - 1; i >= 0; i--) {
      RdmaSelectionKey candidate = hot.get(i);
      int ops = candidate.isValid() ? candidate.readyNow() : 0;
      if (ops == 0) {
        candidate.hot = false;
        hot.set(i, hot.getLast());
        hot.removeLast();
      } else {
        take(candidate, ops);
      }
    }
  }

  private void takePlatform(SelectionKey inner) {
    RdmaSelectionKey key = (RdmaSelectionKey) inner.attachment();
    if (key.isValid() && inner.isValid()) {
      take(key, inner.readyOps());
    }
  }

  private void take(RdmaSelectionKey key, int ops) {
    anyReady = true;
    if (action != null) {
      boolean _ = key.found(ops, false);
      updated++;
      action.accept(key);
      ensureOpen(); // the action may have closed it
      return;
    }
    boolean before = selected.contains(key);
    if (key.found(ops, before)) {
      updated++;
    }
    if (!before) {
      selected.add(key);
    }
  }

  /** The keys that were cancelled leave, first from the platform's selector, then from this one. */
  private void dropCancelled() throws IOException {
    Set<SelectionKey> cancelled = cancelledKeys();
    List<SelectionKey> leaving;
    synchronized (cancelled) {
      if (cancelled.isEmpty()) {
        return;
      }
      leaving = List.copyOf(cancelled);
      cancelled.clear();
    }
    boolean inPlatform = false;
    for (SelectionKey key : leaving) {
      inPlatform |= ((RdmaSelectionKey) key).leavePlatform();
    }
    if (inPlatform) {
      platform.selectNow(onPlatform);
    }
    leaving.forEach(key -> drop((RdmaSelectionKey) key));
  }

  private void drop(RdmaSelectionKey key) {
    keys.remove(key);
    selected.remove(key);
    key.registrations().remove(key);
    deregister(key);
  }

  /** Has the key looked at by the next selection. */
  void offer(RdmaSelectionKey key) {
    if (key.queued.compareAndSet(false, true)) {
      do {
        key.next = offered.get();
      } while (!offered.compareAndSet(key.next, key));
    }
  }

  /** Whether a selecting thread has found nothing and waits to be woken. */
  boolean isAsleep() {
    return asleep;
  }

  /** Ends the sleep of a selecting thread, which looks and sleeps on if it finds nothing. */
  void wakeIfAsleep() {
    if (asleep) {
      asleep = false;
      platform.wakeup();
    }
  }

  @Override
  public RdmaSelector wakeup() {
    woken = true;
    wakeIfAsleep();
    return this;
  }

  @Override
  protected void implCloseSelector() throws IOException {
    wakeup();
    synchronized (this) {
      synchronized (publicSelected) {
        for (SelectionKey key : List.copyOf(keys)) {
          RdmaSelectionKey leaving = (RdmaSelectionKey) key;
          leaving.leavePlatform();
          leaving.cancel();
        }
        if (!platform.keys().isEmpty()) {
          platform.selectNow();
        }
        for (SelectionKey key : List.copyOf(keys)) {
          drop((RdmaSelectionKey) key);
        }
        platform.close();
      }
    }
  }

  private void ensureOpen() {
    if (!isOpen()) {
      throw new ClosedSelectorException();
    }
  }
}
