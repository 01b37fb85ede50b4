package org.hghca.cm.ib;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.hghca.log.About;
import org.hghca.log.ConditionLog;
import org.hghca.verbs.AddressVector;
import org.hghca.verbs.Context;
import org.hghca.verbs.Gid;
import org.hghca.verbs.GidEntry;
import org.hghca.verbs.VerbsException;

/**
 * Datagrams by the queue pair of the general services. The thread of the carrier is the only one
 * that uses the queue pair; others leave what they send in a queue.
 */
final class GsiTransport implements MadTransport {
  private static final ConditionLog LOG = ConditionLog.of(GsiTransport.class);

  /** At most so many datagrams wait for a slot; more get lost. */
  private static final int WAITING = 8192;

  /** Time limit for the last datagrams to be sent. */
  private static final Duration DRAIN_LIMIT = Duration.ofMillis(200);

  private final Context context;
  private final GsiQueue queue;
  private final Thread thread;
  private final AtomicBoolean woken = new AtomicBoolean();

  /** Whether the completion queue has to be looked at, and armed again. */
  private final AtomicBoolean happened = new AtomicBoolean(true);

  private final ArrayDeque<Outgoing> outgoing = new ArrayDeque<>();
  private volatile boolean closing;
  private volatile Engine engine;

  private record Outgoing(byte[] mad, AddressVector to) {}

  private GsiTransport(Context context, GsiQueue queue) {
    this.context = context;
    this.queue = queue;
    this.thread =
        Thread.ofPlatform()
            .daemon()
            .name("hghca-cm-" + context.device().name())
            .unstarted(this::run);
  }

  static GsiTransport open(Context context) {
    return new GsiTransport(context, GsiQueue.open(context));
  }

  void start(Engine of) {
    engine = of;
    try {
      thread.start();
    } catch (Error e) { // out of threads
      queue.close();
      throw e;
    }
  }

  /** Leaves a datagram in the queue, on any thread; {@link #flush} posts it on the carrier's. */
  @Override
  public void send(byte[] mad, AddressVector to) {
    synchronized (outgoing) {
      if (outgoing.size() < WAITING) {
        outgoing.add(new Outgoing(mad, to));
        return;
      }
    }
    LOG.debug(about().with(to.destination()), "lost: a datagram, since {} wait", WAITING);
  }

  @Override
  public long nanoTime() {
    return System.nanoTime();
  }

  @Override
  public void wake() {
    woken.set(true);
    LockSupport.unpark(thread);
  }

  @Override
  public OptionalInt indexOf(Gid gid) {
    return context.queryGidTable().stream()
        .filter(entry -> entry.port() == Arrival.PORT && entry.gid().equals(gid))
        .mapToInt(GidEntry::index)
        .findFirst();
  }

  private About about() {
    return About.device(context.device().name());
  }

  private void run() {
    try {
      work();
    } catch (RuntimeException | Error e) {
      if (!closing) {
        LOG.error(about(), "the connection manager has failed", e);
        fail(e);
      }
    } finally {
      closeQueue();
    }
  }

  private void fail(Throwable cause) {
    String why =
        "the connection manager of %s has failed: %s"
            .formatted(context.device().name(), cause.getMessage());
    engine.fail(why, cause);
    var _ = engine.step();
  }

  private void closeQueue() {
    try {
      queue.close();
    } catch (VerbsException e) {
      LOG.warn(about(), "queue pair 1 is not closed: {}", e.getMessage());
    }
  }

  private void work() {
    queue.channel().onEvent(this::happened);
    while (!closing) {
      woken.set(false);
      if (happened.getAndSet(false)) {
        // throws when the device has failed
        var _ = queue.channel().poll();
        queue.completions().requestNotify(false); // completions from before are polled below
      }
      OptionalLong due = pollAndStep();
      if (!woken.get()) {
        due.ifPresentOrElse(LockSupport::parkNanos, LockSupport::park);
      }
    }
    flush();
    queue.drain(DRAIN_LIMIT);
  }

  private void happened() {
    happened.set(true);
    wake();
  }

  /** What was received is reported before more is, so that no flood fills the queue of reports. */
  private OptionalLong pollAndStep() {
    OptionalLong due;
    boolean more;
    do {
      more = queue.poll(engine::received);
      due = engine.step();
      flush();
    } while (more && !closing);
    return due;
  }

  /** Posts what waits in the queue, as far as there are slots. */
  private void flush() {
    Optional<Outgoing> next = first();
    while (next.isPresent() && isSent(next.get())) {
      synchronized (outgoing) {
        outgoing.remove();
      }
      next = first();
    }
  }

  private Optional<Outgoing> first() {
    synchronized (outgoing) {
      return Optional.ofNullable(outgoing.peek());
    }
  }

  /** Whether a datagram is posted, or has no way to its destination. */
  private boolean isSent(Outgoing next) {
    try {
      return queue.send(next.mad, next.to);
    } catch (VerbsException e) {
      LOG.debug(about().with(next.to.destination()), "lost: a datagram", e);
      engine.unsendable(next.to.destination(), e.getMessage());
      return true;
    }
  }

  /** Ends the thread, and waits for it unless it is the caller. Idempotent. */
  void close() {
    closing = true;
    wake();
    if (!thread.equals(Thread.currentThread())) {
      join();
    }
  }

  /** Waits for the end of the thread; an interrupt does not end the wait and stays pending. */
  private void join() {
    boolean interrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
