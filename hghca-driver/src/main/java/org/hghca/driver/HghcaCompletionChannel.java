package org.hghca.driver;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.hghca.verbs.CompletionChannel;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;

/** Where completion queues of a context tell that there is something to poll. */
final class HghcaCompletionChannel extends Resource
    implements CompletionChannel, ContextCounters.Counted {
  private final DeviceContext context;

  private final EventFifo<CompletionQueue> events =
      new EventFifo<>(Integer.MAX_VALUE) {
        @Override
        boolean isLive(CompletionQueue queue) {
          return !((HghcaCompletionQueue) queue).isClosed();
        }

        @Override
        boolean take(CompletionQueue queue) {
          return isLive(queue);
        }

        @Override
        void putBack(CompletionQueue queue) {}

        @Override
        void dropped(CompletionQueue queue) {}
      };

  HghcaCompletionChannel(DeviceContext context) {
    super(context);
    this.context = context;
    context.count(this);
    publish();
  }

  @Override
  String describe() {
    return "a completion channel of %s".formatted(context.describe());
  }

  @Override
  public DeviceContext context() {
    return context;
  }

  /** A completion queue has something to poll. */
  void give(HghcaCompletionQueue queue) {
    events.give(queue);
  }

  /** A completion queue is closed: what nobody has taken of its events is forgotten. */
  void forget(HghcaCompletionQueue queue) {
    events.removeIf(other -> other == queue);
  }

  /** The device is dead: nothing will be told any more. */
  void deviceFailed() {
    events.end(
        () ->
            new VerbsException(
                Errno.EIO, context.hghca().health().complaint().orElse("the device has failed")));
  }

  @Override
  public void addTo(ContextCounters counters) {
    counters.addEvents(events.given());
  }

  @Override
  public CompletionQueue await() throws InterruptedException {
    checkOpen();
    return events.await();
  }

  @Override
  public Optional<CompletionQueue> await(Duration limit) throws InterruptedException {
    checkOpen();
    return events.await(limit);
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
  void release() {
    context.channelClosed(this);
    context.countNoMore(this);
    events.end(() -> new VerbsException(Errno.EINVAL, describe() + " is closed"));
  }
}
