package org.hghca.provider.event;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.hghca.provider.Health;
import org.hghca.provider.Resource;
import org.hghca.provider.counters.ContextCounters;
import org.hghca.provider.counters.Tally;
import org.hghca.verbs.CompletionChannel;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.CompletionQueueConfig;
import org.hghca.verbs.Context;
import org.hghca.verbs.Counter;
import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;
import org.hghca.vfio.PciFunction;

/**
 * Receives the events of completion queues of a context. Completion queues are {@link Resource}s.
 */
public final class EventChannel extends Resource
    implements CompletionChannel, ContextCounters.Counted {
  /** Waits that are shorter only sleep. */
  private static final Duration SHORT = Duration.ofMillis(5);

  private final Context context;
  private final Health health;
  private final ContextCounters counters;
  private final Consumer<EventChannel> onClose;
  private final PciFunction function;
  private final BooleanSupplier ready;

  private final EventFifo<CompletionQueue> events =
      new EventFifo<>(Integer.MAX_VALUE) {
        @Override
        protected boolean isLive(CompletionQueue queue) {
          return !((Resource) queue).isClosed();
        }

        @Override
        protected boolean take(CompletionQueue queue) {
          return isLive(queue);
        }

        @Override
        protected void putBack(CompletionQueue queue) {}

        @Override
        protected void dropped(CompletionQueue queue) {}
      };

  /**
   * A channel of a context, which is its first user.
   *
   * @param function that of the device: a thread that waits tells it
   * @param health of the context's device
   * @param onClose called when it is closed
   */
  public <C extends Resource & Context> EventChannel(
      C context,
      PciFunction function,
      Health health,
      ContextCounters counters,
      Consumer<EventChannel> onClose) {
    super(context);
    this.context = context;
    this.health = health;
    this.counters = counters;
    this.onClose = onClose;
    this.function = function;
    this.ready = events::isReady;
    counters.add(this);
    publish();
  }

  /**
   * The channel of a new completion queue of a context, if it has one.
   *
   * @throws VerbsException EINVAL when it is of another context
   */
  private static <C extends Resource & Context> Optional<EventChannel> of(
      CompletionQueueConfig config, C context) {
    return config
        .channel()
        .map(
            channel -> {
              if (channel instanceof EventChannel ours && ours.context().equals(context)) {
                return ours;
              }
              throw new VerbsException(
                  Errno.EINVAL,
                  "the completion channel belongs to another context than %s"
                      .formatted(context.describe()));
            });
  }

  /** What a new completion queue of a context uses: the context, and its channel if it has one. */
  public static <C extends Resource & Context> Resource[] used(
      CompletionQueueConfig config, C context) {
    return of(config, context)
        .map(channel -> new Resource[] {context, channel})
        .orElseGet(() -> new Resource[] {context});
  }

  @Override
  public String describe() {
    return "a completion channel of %s".formatted(((Resource) context).describe());
  }

  @Override
  public Context context() {
    return context;
  }

  /** A completion queue has completions to poll. */
  public <Q extends Resource & CompletionQueue> void give(Q queue) {
    events.give(queue);
    function.happened();
  }

  /** A completion queue is closed: its untaken events are dropped. */
  @SuppressWarnings("ReferenceEquality") // a queue is itself
  public void forget(CompletionQueue queue) {
    events.removeIf(other -> other == queue);
  }

  /** The device is dead: there are no more events. */
  public void deviceFailed() {
    events.end(
        () -> new VerbsException(Errno.EIO, health.complaint().orElse("the device has failed")));
  }

  @Override
  public void addTo(Tally sum) {
    sum.add(Counter.COMPLETION_EVENTS, events.given());
  }

  @Override
  public CompletionQueue await() throws InterruptedException {
    checkOpen();
    look();
    return events.await();
  }

  @Override
  public Optional<CompletionQueue> await(Duration limit) throws InterruptedException {
    checkOpen();
    if (limit.compareTo(SHORT) <= 0) {
      return events.await(limit);
    }
    long before = System.nanoTime();
    look();
    return events.await(limit.minusNanos(System.nanoTime() - before));
  }

  private void look() {
    if (!events.isReady()) {
      function.beforeSleep(ready);
    }
  }

  @Override
  public Optional<CompletionQueue> poll() {
    checkOpen();
    return events.poll();
  }

  @Override
  public CompletableFuture<CompletionQueue> next() {
    checkOpen();
    return events.next();
  }

  @Override
  public void onEvent(Runnable action) {
    checkOpen();
    if (!events.onEvent(action)) {
      throw new VerbsException(Errno.EINVAL, describe() + " has an action");
    }
  }

  @Override
  public void beginPolling() {
    function.beginPolling();
  }

  @Override
  public void endPolling() {
    function.endPolling();
  }

  @Override
  protected void release() {
    onClose.accept(this);
    counters.remove(this);
    events.end(() -> new VerbsException(Errno.EINVAL, describe() + " is closed"));
  }
}
