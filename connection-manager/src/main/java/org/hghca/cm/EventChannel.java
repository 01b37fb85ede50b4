package org.hghca.cm;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.hghca.cm.device.DeviceCarriers;
import org.hghca.cm.device.DeviceWatch;
import org.hghca.cm.device.Releases;
import org.hghca.cm.device.SharedDevice;
import org.hghca.verbs.Context;
import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;

/**
 * Where the events of identifiers arrive, in order: {@code rdma_event_channel}. Thread-safe; any
 * number of threads, virtual ones too, may wait, and each event goes to one of them.
 *
 * <p>Taking an event does what it requires of the queue pair: {@link CmEventType#ESTABLISHED} at
 * the active end means that the taker has brought it to RTS and has told the peer.
 *
 * <p>Lock order: the lock of a {@link CmId} before that of its channel, which posts under both.
 */
public final class EventChannel implements AutoCloseable {
  private final CmDevices devices;
  private final Deque<CmEvent> events = new ArrayDeque<>();
  private final Deque<CompletableFuture<CmEvent>> waiters = new ArrayDeque<>();
  private final Set<CmId> ids = new HashSet<>();

  /** In use until the channel is closed, so that carriers outlive single identifiers. */
  private final Map<DeviceCarriers, DeviceWatch> used = new HashMap<>();

  private boolean closed;

  private EventChannel(CmDevices devices) {
    this.devices = Objects.requireNonNull(devices);
  }

  /** {@code rdma_create_event_channel}, for the devices of this machine. */
  public static EventChannel open() {
    return open(CmDevices.system());
  }

  /** For devices that the program has open: {@link CmDevices#of}. */
  public static EventChannel open(Context... contexts) {
    return open(CmDevices.of(contexts));
  }

  /** For some devices. */
  public static EventChannel open(CmDevices devices) {
    return new EventChannel(devices);
  }

  /** {@code rdma_create_id}: an identifier whose events come here. */
  public CmId createId(PortSpace space) {
    return new CmId(this, devices, space, false);
  }

  synchronized void add(CmId id) {
    requireOpen();
    ids.add(id);
  }

  synchronized void remove(CmId id) {
    ids.remove(id);
  }

  /**
   * Keeps the carriers of a device open as long as the channel, and tells the identifiers if the
   * device fails.
   *
   * @throws VerbsException EIO when it has failed
   */
  synchronized void use(SharedDevice device) {
    DeviceCarriers carriers = device.carriers();
    if (closed || used.containsKey(carriers)) {
      return;
    }
    carriers.retain();
    try {
      used.put(carriers, new DeviceWatch(device.context(), cause -> failed(carriers, cause)));
    } catch (VerbsException e) {
      carriers.release(); // not the last: the caller is one, too
      throw e;
    }
  }

  private void failed(DeviceCarriers device, VerbsException cause) {
    List<CmId> all;
    synchronized (this) {
      all = List.copyOf(ids);
    }
    all.forEach(id -> id.failed(device, cause));
  }

  private void requireOpen() {
    if (closed) {
      throw closedChannel();
    }
  }

  private static VerbsException closedChannel() {
    return new VerbsException(Errno.EINVAL, "the event channel is closed");
  }

  /**
   * Waits for an event: {@code rdma_get_cm_event}.
   *
   * @throws VerbsException EINVAL when the channel is closed
   * @throws InterruptedException when the thread is interrupted; no event is lost
   */
  public CmEvent await() throws InterruptedException {
    while (true) {
      Optional<CmEvent> event = await(Duration.ofDays(1));
      if (event.isPresent()) {
        return event.get();
      }
    }
  }

  /**
   * Waits for an event, up to a time limit.
   *
   * @param limit zero does not wait
   * @return empty when none came
   */
  public Optional<CmEvent> await(Duration limit) throws InterruptedException {
    return await(limit, new CompletableFuture<>());
  }

  /**
   * Waits for an event, up to a time limit, or until something else happens.
   *
   * @return empty when none came
   */
  Optional<CmEvent> await(Duration limit, CompletableFuture<?> until) throws InterruptedException {
    CompletableFuture<CmEvent> untaken = untaken();
    try {
      var _ = CompletableFuture.anyOf(untaken, until).get(limit.toNanos(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException _) {
      // there may be an event all the same
    } catch (InterruptedException e) {
      if (!untaken.cancel(false)) {
        putBack(untaken.join());
      }
      throw e;
    } catch (ExecutionException e) {
      throw closedChannel();
    }
    if (untaken.cancel(false)) {
      return Optional.empty();
    }
    if (untaken.isCompletedExceptionally()) {
      throw closedChannel();
    }
    return Optional.of(take(untaken.join()));
  }

  /** Takes an available event, without waiting. */
  public Optional<CmEvent> poll() {
    CompletableFuture<CmEvent> untaken = untaken();
    return untaken.cancel(false) ? Optional.empty() : Optional.of(take(untaken.join()));
  }

  /**
   * The next event. Events go to waiters in the order in which they began to wait; a cancelled
   * future takes none. It is completed on a separate thread, so that dependent actions may block.
   */
  public CompletableFuture<CmEvent> next() {
    CompletableFuture<CmEvent> result = new CompletableFuture<>();
    CompletableFuture<CmEvent> untaken = untaken();
    var _ =
        untaken.whenCompleteAsync(
            (event, failure) -> {
              if (failure != null) {
                result.completeExceptionally(failure);
              } else if (result.isDone()) {
                putBack(event);
              } else {
                CmEvent taken = take(event);
                if (!result.complete(taken)) {
                  putBack(taken);
                }
              }
            },
            Thread::startVirtualThread);
    var _ =
        result.whenComplete(
            (event, failure) -> {
              if (result.isCancelled()) {
                untaken.cancel(false);
              }
            });
    return result;
  }

  private static CmEvent take(CmEvent event) {
    return event.id().onTaken(event);
  }

  /** An event as it was queued. */
  private synchronized CompletableFuture<CmEvent> untaken() {
    requireOpen();
    CompletableFuture<CmEvent> waiter = new CompletableFuture<>();
    CmEvent first = events.poll();
    if (first == null) {
      waiters.removeIf(CompletableFuture::isDone);
      waiters.add(waiter);
    } else {
      first.owner().deliveries().add();
      waiter.complete(first);
    }
    return waiter;
  }

  /** Queues an event, or passes it to who waits first. */
  synchronized void post(CmEvent event) {
    if (!pass(event)) {
      events.addLast(event);
    }
  }

  private synchronized void putBack(CmEvent event) {
    event.owner().deliveries().remove();
    if (!closed && !pass(event)) {
      events.addFirst(event);
    }
  }

  private boolean pass(CmEvent event) {
    event.owner().deliveries().add();
    for (CompletableFuture<CmEvent> waiter = waiters.poll();
        waiter != null;
        waiter = waiters.poll()) {
      if (waiter.complete(event)) {
        return true;
      }
    }
    event.owner().deliveries().remove();
    return false;
  }

  /** Removes the first event of an identifier, for one of it that was passed. */
  synchronized Optional<CmEvent> removeFirstOf(CmId owner) {
    for (Iterator<CmEvent> it = events.iterator(); it.hasNext(); ) {
      CmEvent event = it.next();
      if (event.owner() == owner) {
        it.remove();
        return Optional.of(event);
      }
    }
    return Optional.empty();
  }

  /** The events of an identifier that were not taken. */
  synchronized List<CmEvent> eventsOf(CmId owner) {
    return events.stream().filter(event -> event.owner().equals(owner)).toList();
  }

  /** Removes events. */
  synchronized void drop(List<CmEvent> dropped) {
    events.removeAll(dropped);
  }

  /** Removes the events of an identifier, for {@link CmId#close} or another channel. */
  synchronized List<CmEvent> removeOf(CmId owner) {
    List<CmEvent> removed = new ArrayList<>();
    for (Iterator<CmEvent> it = events.iterator(); it.hasNext(); ) {
      CmEvent event = it.next();
      if (event.owner() == owner) {
        removed.add(event);
        it.remove();
      }
    }
    return removed;
  }

  /**
   * {@code rdma_destroy_event_channel}: ends every wait with EINVAL. Idempotent.
   *
   * @throws VerbsException EBUSY while identifiers use the channel
   */
  @Override
  public void close() {
    List<CompletableFuture<CmEvent>> ended;
    Map<DeviceCarriers, DeviceWatch> released;
    List<CmId> open;
    synchronized (this) {
      open = List.copyOf(ids);
      ended = open.isEmpty() ? List.copyOf(waiters) : List.of();
      released = open.isEmpty() ? Map.copyOf(used) : Map.of();
      if (open.isEmpty()) {
        closed = true;
        waiters.clear();
        used.clear();
      }
    }
    if (!open.isEmpty()) {
      throw new VerbsException(
          Errno.EBUSY, "the event channel has identifiers: close %s first".formatted(open));
    }
    Releases releases = new Releases();
    released.forEach(
        (device, watch) -> {
          releases.add(watch::close);
          releases.add(device::release);
        });
    ended.forEach(waiter -> releases.add(() -> waiter.completeExceptionally(closedChannel())));
    releases.run();
  }

  @Override
  public synchronized String toString() {
    return "event channel with %d identifiers and %d events".formatted(ids.size(), events.size());
  }
}
