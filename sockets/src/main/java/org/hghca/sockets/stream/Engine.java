package org.hghca.sockets.stream;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.hghca.log.About;
import org.hghca.log.ConditionLog;
import org.hghca.verbs.CompletionChannel;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.CompletionQueueConfig;
import org.hghca.verbs.Completions;
import org.hghca.verbs.Context;
import org.hghca.verbs.VerbsException;

/**
 * A completion queue that some streams share, and who polls it: whichever thread waits for one of
 * its streams passes what it finds to all of them. A thread that sleeps has armed the queue; the
 * event wakes one of those that sleep, which polls, and arms it again before it sleeps on. Where
 * none sleeps and a stream waits for its end, a virtual thread takes the part of the one that is
 * woken.
 *
 * <p>Nothing is lost: who sleeps, or leaves others that depend on events, first arms the queue and
 * then has it polled.
 */
final class Engine implements AutoCloseable {
  private static final ConditionLog LOG = ConditionLog.of(Engine.class);

  /** Outstanding requests of all streams of an engine, unless one needs more. */
  private static final int ROOM = 8192;

  private static final int BATCH = 32;

  private final CompletionChannel channel;
  private final CompletionQueue queue;
  private final Completions batch = new Completions(BATCH);
  private final CompletionSink[] streams;
  private final Deque<Integer> freeSlots = new ArrayDeque<>();
  private final PollLock lock = new PollLock(this::poll);

  /** What wakes threads that sleep, the next one first; its monitor guards it. */
  private final Deque<Runnable> sleepers = new ArrayDeque<>();

  /** Threads that sleep, and streams that wait for their end. */
  private final AtomicInteger dependents = new AtomicInteger();

  /** Threads that poll again and again. */
  private final AtomicInteger pollers = new AtomicInteger();

  private volatile boolean armed;
  private volatile boolean failed;
  private int room;

  /**
   * An engine with a completion queue of its own.
   *
   * @param requests of its first stream
   */
  Engine(Context context, int requests) {
    room = Math.max(requests, Math.min(ROOM, context.queryDevice().maxCqe()));
    streams = new CompletionSink[room / StreamOptions.MIN_QUEUE];
    for (int i = 0; i < streams.length; i++) {
      freeSlots.add(i);
    }
    channel = context.createCompletionChannel();
    try {
      channel.onEvent(this::onEvent);
      queue = context.createCompletionQueue(CompletionQueueConfig.of(room).withChannel(channel));
    } catch (VerbsException e) {
      channel.close();
      throw e;
    }
  }

  CompletionQueue queue() {
    return queue;
  }

  // Its streams.

  /**
   * Reserves room for the requests of a stream.
   *
   * @return the stream's number, or -1 where there is no room
   */
  synchronized int reserve(int requests) {
    if (requests > room || freeSlots.isEmpty()) {
      return -1;
    }
    room -= requests;
    return freeSlots.poll();
  }

  /** The room of a stream is free; its queue pair is closed. */
  synchronized void release(int slot, int requests) {
    room += requests;
    freeSlots.add(slot);
  }

  /** Whether it has no streams. */
  synchronized boolean isIdle() {
    return freeSlots.size() == streams.length;
  }

  /** A stream takes completions from now on. */
  void attach(int slot, CompletionSink stream) {
    lock.exclusively(() -> streams[slot] = stream);
  }

  /** A stream takes completions no more. */
  void detach(int slot) {
    lock.exclusively(() -> streams[slot] = null);
  }

  /** Runs an action while no completion is passed on. */
  void exclusively(Runnable action) {
    lock.exclusively(action);
  }

  // Progress.

  /** {@link ByteStream#progress}. */
  boolean progress() {
    return lock.tryPoll();
  }

  /** {@link StreamDevice#beginPolling}. */
  void beginPolling() {
    channel.beginPolling();
  }

  /** Has all completions passed on that have come until now. */
  void progressAll() {
    lock.pollAll();
  }

  private boolean poll() {
    if (failed) {
      return false;
    }
    try {
      int found = queue.poll(batch);
      for (int i = 0; i < found; i++) {
        pass(i);
      }
      return found > 0;
    } catch (VerbsException e) {
      fail(e);
      return false;
    }
  }

  private void pass(int index) {
    long id = batch.wrId(index);
    CompletionSink stream = streams[RequestId.slot(id)];
    if (stream == null) {
      return; // it has ended
    }
    if (!batch.isSuccess(index)) {
      stream.failed(batch.status(index));
    } else if (!RequestId.isReceive(id)) {
      stream.sent(RequestId.stamp(id));
    } else if (batch.hasImmediate(index)) {
      stream.received(batch.immediate(index), batch.byteLength(index));
    } else {
      stream.receivedAt(RequestId.receive(id), batch.byteLength(index));
    }
  }

  private void fail(VerbsException cause) {
    LOG.debug(About.NOTHING, "streams end: {}", cause.getMessage());
    failed = true;
    for (CompletionSink stream : streams) {
      if (stream != null) {
        stream.broke();
      }
    }
  }

  // Events.

  private void onEvent() {
    armed = false;
    if (pollers.get() > 0) {
      return; // the last of them arms the queue again
    }
    Runnable first = firstSleeper();
    if (first != null) {
      first.run();
    } else if (dependents.get() > 0) {
      Thread.startVirtualThread(this::settle);
    }
  }

  private Runnable firstSleeper() {
    synchronized (sleepers) {
      return sleepers.peek();
    }
  }

  private void armAndPoll() {
    if (!armed && !failed) {
      armed = true; // first: the event may come at once
      try {
        queue.requestNotify(false);
      } catch (VerbsException e) {
        LOG.debug(About.NOTHING, "a completion queue cannot be armed: {}", e.getMessage());
      }
    }
    lock.pollAll();
  }

  /** Leaves the queue to its events, if somebody depends on them. */
  void settle() {
    if (dependents.get() > 0 && !armed) {
      armAndPoll();
    }
  }

  /** A stream depends on events from now on. */
  void addDependent() {
    dependents.incrementAndGet();
    settle();
  }

  /** A stream does not depend on events any more. */
  void removeDependent() {
    dependents.decrementAndGet();
  }

  /**
   * A thread is about to sleep, after {@link #settle} and {@link #leave}.
   *
   * @param wake wakes it, so that it makes progress; must not block
   */
  void addSleeper(Runnable wake) {
    synchronized (sleepers) {
      sleepers.add(wake);
    }
    dependents.incrementAndGet();
  }

  /** The thread sleeps no more. */
  void removeSleeper(Runnable wake) {
    synchronized (sleepers) {
      sleepers.remove(wake);
    }
    dependents.decrementAndGet();
    settle();
  }

  /** The calling thread does not poll any more: the device may have left its link to it. */
  void leave() {
    channel.endPolling();
  }

  /**
   * Waits until something is so, or the deadline.
   *
   * @param done becomes true only by completions, or by a thread that wakes this one
   * @param looks whether it polls for a moment before it sleeps
   * @param wake unparks the calling thread
   * @param deadline of {@link System#nanoTime}, or {@code Long.MAX_VALUE}
   * @return whether it is so, or the thread is interrupted
   */
  boolean await(BooleanSupplier done, Looks looks, Runnable wake, long deadline) {
    if (done.getAsBoolean() || looks.looks() && poll(done, looks, deadline)) {
      return true;
    }
    addSleeper(wake);
    try {
      while (true) {
        armAndPoll();
        leave();
        if (done.getAsBoolean() || Thread.currentThread().isInterrupted()) {
          return true;
        }
        long left = Moments.left(deadline);
        if (left <= 0) {
          return false;
        }
        // An event before this that has woken the thread may have ended a wait for a lock.
        if (armed || failed) {
          LockSupport.parkNanos(this, left);
        }
      }
    } finally {
      removeSleeper(wake);
    }
  }

  /** Polls for a moment. */
  private boolean poll(BooleanSupplier done, Looks looks, long deadline) {
    long begin = System.nanoTime();
    long end = Math.min(deadline, begin + Looks.LONGEST);
    pollers.incrementAndGet();
    channel.beginPolling();
    try {
      long now = begin;
      do {
        if (!progress()) {
          Looks.pause(now - begin);
        }
        if (done.getAsBoolean()) {
          looks.found();
          return true;
        }
        now = System.nanoTime();
      } while (now < end);
      looks.missed();
      return false;
    } finally {
      pollers.decrementAndGet();
      settle();
    }
  }

  @Override
  public void close() {
    queue.close();
    channel.close();
  }
}
