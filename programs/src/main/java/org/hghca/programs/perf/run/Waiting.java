package org.hghca.programs.perf.run;

import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;
import org.hghca.programs.perf.PerfException;
import org.hghca.verbs.CompletionChannel;
import org.hghca.verbs.CompletionQueue;
import org.hghca.vfio.GiveWay;
import org.hghca.vfio.TimeScale;

/**
 * What a loop does when it found nothing to do: it spins, lets others run, or sleeps until the next
 * event; and it ends the test when nothing happens for too long. Not thread-safe.
 */
final class Waiting {
  private static final Duration LIMIT = Duration.ofSeconds(20);
  private static final int SPINS_BETWEEN_YIELDS = GiveWay.looks(200);

  private final TimeScale time;
  private final Optional<CompletionChannel> channel;
  private final CompletionQueue[] queues;
  private final Supplier<String> progress;
  private int spins;
  private boolean idle;
  private boolean armed;
  private long since;

  /**
   * Nothing has happened yet.
   *
   * @param progress what there is so far, for the message when nothing more comes
   */
  Waiting(Resources resources, Supplier<String> progress) {
    this.progress = progress;
    time = resources.device().time();
    channel = resources.channel();
    queues = new CompletionQueue[] {resources.sends(), resources.receives()};
  }

  /** Something happened. */
  void progress() {
    spins = 0;
    idle = false;
    armed = false;
  }

  /**
   * Nothing happened.
   *
   * @return false when the thread was interrupted
   * @throws PerfException when that has been so for 20 s of the device's time
   */
  boolean pause() {
    if (Thread.currentThread().isInterrupted()) {
      return false;
    }
    if (channel.isPresent()) {
      return sleep(channel.get());
    }
    if (++spins % SPINS_BETWEEN_YIELDS != 0) {
      Thread.onSpinWait();
      return true;
    }
    // If cores are scarce, the software HCA may need this one.
    Thread.yield();
    checkTime();
    return true;
  }

  private void checkTime() {
    long now = time.nanoTime();
    if (!idle) {
      idle = true;
      since = now;
    } else if (now - since > LIMIT.toNanos()) {
      throw stalled();
    }
  }

  private PerfException stalled() {
    return new PerfException(
        "nothing happened for %d seconds: %s"
            .formatted(time.stretch(LIMIT).toSeconds(), progress.get()));
  }

  /** Arms the queues; the caller looks once more, and the next time this waits. */
  private boolean sleep(CompletionChannel events) {
    if (!armed) {
      armed = true;
      for (CompletionQueue queue : queues) {
        queue.requestNotify(false);
      }
      return true;
    }
    armed = false;
    try {
      if (events.await(time.stretch(LIMIT)).isEmpty()) {
        throw stalled();
      }
      return true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
