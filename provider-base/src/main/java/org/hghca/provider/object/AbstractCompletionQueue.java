package org.hghca.provider.object;

import java.util.Optional;
import org.hghca.provider.Health;
import org.hghca.provider.Resource;
import org.hghca.provider.event.EventChannel;
import org.hghca.provider.queue.CompletionRoom;
import org.hghca.provider.queue.LockRank;
import org.hghca.provider.queue.SpinLock;
import org.hghca.provider.snapshot.Kind;
import org.hghca.provider.snapshot.Published;
import org.hghca.provider.snapshot.Snapshot.Subject;
import org.hghca.provider.srq.SharedCompletions;
import org.hghca.verbs.CompletionChannel;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.CompletionQueueConfig;
import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;

/**
 * A completion queue of any driver: its lock, its room for requests, its channel and its end. A
 * subclass polls, so that a poll is one call.
 */
public abstract class AbstractCompletionQueue extends Resource
    implements CompletionQueue, SharedCompletions, Published {
  /** Under which completions are taken. */
  protected final SpinLock lock = new SpinLock(LockRank.COMPLETIONS);

  private final AbstractContext context;
  private final Health health;
  private final Optional<EventChannel> channel;
  private int entries;
  private CompletionRoom room;

  /**
   * A queue that is not complete.
   *
   * @throws VerbsException EINVAL when its channel is of another context
   */
  protected AbstractCompletionQueue(AbstractContext context, CompletionQueueConfig config) {
    super(EventChannel.used(config, context));
    this.context = context;
    this.health = context.health();
    this.channel = config.channel().map(EventChannel.class::cast);
    this.entries = config.entries();
  }

  /**
   * Completes it, the last step of a construction.
   *
   * @param requests number of requests of attached queues for which it has room
   */
  protected final void finish(int requests) {
    room = new CompletionRoom(requests);
    context.count(this);
    publish();
  }

  /** Its number on the device. */
  public abstract int number();

  @Override
  public final Kind kind() {
    return Kind.COMPLETION_QUEUE;
  }

  @Override
  public final Subject subject() {
    return Subject.of(kind(), context.openingNumber(), number(), "");
  }

  /** Lets polls and notifications in progress end: it is closed for later ones. */
  protected abstract void stop();

  /** Makes the device release it. */
  protected abstract void destroy();

  /** Frees its memory, which the device has released. */
  protected abstract void freeMemory();

  /** Frees its number, which the device has released. */
  protected void freeNumber() {}

  @Override
  public final String describe() {
    return "CQ 0x%x".formatted(number());
  }

  /** Its state, with the number of slots and the position of the ring. */
  protected final String standing(int slots, int position) {
    return "%d entries, ring of %d at %d, %d reserved"
        .formatted(entries, slots, position & slots - 1, room.reserved());
  }

  @Override
  public final AbstractContext context() {
    return context;
  }

  @Override
  public final int entries() {
    return entries;
  }

  protected final void entries(int wanted) {
    entries = wanted;
  }

  @Override
  public final void reserve(int requests) {
    room.reserve(requests, this);
  }

  @Override
  public final void unreserve(int requests) {
    room.unreserve(requests);
  }

  /** Two predictable loads: a poll of a closed queue or a dead device throws. */
  protected final void checkAlive() {
    checkOpen();
    health.check();
  }

  /** Checks the number of completions of a poll. */
  protected static void checkMax(int max) {
    if (max < 0) {
      throw new VerbsException(
          Errno.EINVAL, "a poll for %d completions: it must be 0 or more".formatted(max));
    }
  }

  // ---- notification

  @Override
  public final Optional<CompletionChannel> channel() {
    return channel.map(CompletionChannel.class::cast);
  }

  /**
   * Checks that it can be armed.
   *
   * @throws VerbsException EINVAL without a channel
   */
  protected final void checkChannel() {
    if (channel.isEmpty()) {
      throw new VerbsException(Errno.EINVAL, "%s has no completion channel".formatted(describe()));
    }
  }

  /** It has completions to poll. Without a lock. */
  protected final void notifyChannel() {
    channel.ifPresent(events -> events.give(this));
  }

  // ---- life cycle

  @Override
  protected final void release() {
    stop();
    context.countNoMore(this);
    context.forgetEvents(this);
    channel.ifPresent(events -> events.forget(this));
    context
        .shared()
        .deferredFree()
        .retire(describe(), this::destroy, this::freeMemory, this::freeNumber);
  }
}
