package org.hghca.jgroups;

import java.time.Duration;
import java.util.Arrays;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.IntFunction;
import org.hghca.verbs.CompletionChannel;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.CompletionQueueConfig;
import org.hghca.verbs.Completions;
import org.hghca.verbs.Context;
import org.hghca.verbs.VerbsException;

/**
 * One completion queue for all links, and the one thread that polls it: as long as there is
 * something, and then it waits for the queue's event, which looks for a while before it sleeps.
 */
final class Poller implements AutoCloseable {
  private static final int BATCH = 64;

  /** How long links that have ended keep their memory while nothing happens. */
  private static final Duration PAUSE = Duration.ofSeconds(1);

  /** Hears that the device has failed. */
  interface Failed {
    void failed(VerbsException cause);
  }

  private final CompletionChannel channel;
  private final CompletionQueue queue;
  private final Completions completions = new Completions(BATCH);
  private final Queue<Link> retired = new ConcurrentLinkedQueue<>();
  private final Thread thread;
  private final Failed failed;
  private volatile Link[] links = {};
  private volatile boolean closed;

  /**
   * Starts the thread.
   *
   * @param requests that all links together may have outstanding
   */
  Poller(Context context, int requests, String name, Failed failed) {
    this.failed = failed;
    channel = context.createCompletionChannel();
    try {
      queue =
          context.createCompletionQueue(CompletionQueueConfig.of(requests).withChannel(channel));
    } catch (RuntimeException e) {
      channel.close();
      throw e;
    }
    thread = Thread.ofPlatform().name(name).daemon().start(this::run);
  }

  CompletionQueue queue() {
    return queue;
  }

  /** Makes a link that has a number of its own. */
  synchronized Link add(IntFunction<Link> make) {
    Link[] known = links;
    int number = 0;
    while (number < known.length && known[number] != null) {
      number++;
    }
    Link[] more = Arrays.copyOf(known, Math.max(known.length, number + 1));
    more[number] = make.apply(number);
    links = more;
    return more[number];
  }

  /** Frees a link whose queue pair is closed, once the thread has done with its completions. */
  void retire(Link link) {
    retired.add(link);
  }

  private synchronized void free(Link link) {
    Link[] less = links.clone();
    less[link.number()] = null;
    links = less;
    link.free();
  }

  private void freeRetired() {
    for (Link link = retired.poll(); link != null; link = retired.poll()) {
      free(link);
    }
  }

  private void run() {
    try {
      while (!closed) {
        freeRetired();
        if (!pollOnce()) {
          queue.requestNotify(false);
          if (!pollOnce()) {
            var _ = channel.await(PAUSE);
          }
        }
      }
    } catch (InterruptedException _) {
      // closed
    } catch (VerbsException e) {
      if (!closed) {
        failed.failed(e);
      }
    }
  }

  private boolean pollOnce() {
    int count = queue.poll(completions);
    for (int i = 0; i < count; i++) {
      dispatch(i);
    }
    return count > 0;
  }

  private void dispatch(int index) {
    long wrId = completions.wrId(index);
    Link link = links[(int) (wrId >>> Integer.SIZE)];
    if (link == null || link.isClosed()) {
      return;
    }
    if (!completions.isSuccess(index)) {
      link.end(completions.status(index).text());
      return;
    }
    try {
      link.completed(wrId, completions.byteLength(index));
    } catch (VerbsException e) {
      link.end(e.getMessage());
    }
  }

  /** Ends the thread, which is in the midst of a step at most. */
  void stop() {
    closed = true;
    boolean interrupted = false;
    while (thread.isAlive()) {
      thread.interrupt();
      try {
        thread.join();
      } catch (InterruptedException _) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    freeRetired();
  }

  /** After {@link #stop}, once no queue pair uses the queue. */
  @Override
  public void close() {
    queue.close();
    channel.close();
  }
}
