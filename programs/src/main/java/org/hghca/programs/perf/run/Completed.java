package org.hghca.programs.perf.run;

import java.util.function.BooleanSupplier;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.Completions;

/** Waits for single completions of a queue. Not thread-safe. */
public final class Completed {
  private final Completions one = new Completions(1);
  private final CompletionQueue queue;
  private final String what;
  private final Waiting waiting;
  private long count;

  /**
   * Of a queue.
   *
   * @param what kind of request, for messages
   */
  public Completed(Resources resources, CompletionQueue queue, String what) {
    this.queue = queue;
    this.what = what;
    waiting = new Waiting(resources, () -> "%d completions of %s came".formatted(count, what));
  }

  /** Waits for the next one; false when the thread was interrupted. */
  public boolean await() {
    return await(() -> false);
  }

  /** The same, until there is no use in it any more. */
  public boolean await(BooleanSupplier over) {
    while (queue.poll(one) == 0) {
      if (over.getAsBoolean() || !waiting.pause()) {
        return false;
      }
    }
    waiting.progress();
    Sender.check(one, 0, what, count);
    count++;
    return true;
  }
}
