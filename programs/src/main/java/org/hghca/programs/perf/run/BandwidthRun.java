package org.hghca.programs.perf.run;

import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;
import org.hghca.programs.perf.Parameters;
import org.hghca.programs.perf.result.BandwidthResult;
import org.hghca.programs.perf.result.Course;
import org.hghca.programs.perf.result.Samples;
import org.hghca.verbs.Completions;

/**
 * One measurement of throughput: all queue pairs send, receive, or both, until every message has
 * arrived or the time is over. Nothing is allocated meanwhile. Not thread-safe.
 */
public final class BandwidthRun {
  private static final int POLLED = 16;

  /** How long what is in flight may stay without a completion, when the time is over. */
  private static final long PATIENCE = Duration.ofSeconds(1).toNanos();

  /** After how long without a message the peer has stopped sending. */
  private static final long QUIET = Duration.ofMillis(100).toNanos();

  private final Parameters parameters;
  private final Sender[] senders;
  private final Receiver[] receivers;
  private final Resources resources;
  private final Completions completions = new Completions(POLLED);
  private final Waiting waiting;
  private final Samples samples;
  private final long total;
  private final boolean timed;
  private final Pace pace;
  private final long size;
  private final Progress progress;
  private Optional<Course> course = Optional.empty();
  private long posted;
  private long completed;
  private long received;

  /**
   * Posts the receives.
   *
   * @param size bytes of a message
   */
  public BandwidthRun(Resources resources, boolean client, long size) {
    this.resources = resources;
    this.size = size;
    parameters = resources.parameters();
    timed = parameters.amount().span().isPresent();
    int pairs = resources.pairs().size();
    long limit = timed ? Long.MAX_VALUE : parameters.amount().iterations();
    total = timed ? Long.MAX_VALUE : limit * pairs;
    boolean sends = parameters.sends(client);
    boolean receives = parameters.receives(client);
    senders = new Sender[sends ? pairs : 0];
    receivers = new Receiver[receives ? pairs : 0];
    for (int i = 0; i < senders.length; i++) {
      senders[i] = new Sender(resources, i, size, limit);
    }
    for (int i = 0; i < receivers.length; i++) {
      receivers[i] = new Receiver(resources, i, size, limit);
    }
    waiting = new Waiting(resources, this::sofar);
    progress = new Progress(parameters, size);
    boolean peak = parameters.report().peak() && sends && !timed;
    samples = new Samples(size, peak ? (int) total : 0);
    pace = new Pace(sends ? parameters.amount().rate() : Optional.empty());
  }

  /**
   * Runs it, and again and again if it is endless.
   *
   * @param each gets the result of every one but the last
   * @return the last, or what there was until the thread was interrupted
   */
  public BandwidthResult run(Consumer<BandwidthResult> each) {
    if (!timed) {
      return runAll();
    }
    Parameters.Span span = parameters.amount().span().get();
    BandwidthResult result = runFor(span);
    while (span.endless() && !Thread.currentThread().isInterrupted()) {
      each.accept(result);
      result = runFor(span);
    }
    drain();
    return result;
  }

  /** How far it is. */
  public Progress progress() {
    return progress;
  }

  /** The rate over the time, of a measurement by time that has ended; the last one of many. */
  public Optional<Course> course() {
    return course;
  }

  private BandwidthResult runAll() {
    samples.start(System.nanoTime());
    while (!isDone() && turn()) {
      // Every turn counts what it did.
    }
    return samples.result(done());
  }

  private BandwidthResult runFor(Parameters.Span span) {
    boolean over = false;
    while (senders.length == 0 && received == 0 && !over) {
      over = !turn(); // the time of a receiver begins with the first message
    }
    Window window = new Window(span, System.nanoTime());
    while (!over && turn()) {
      over = window.look(System.nanoTime(), done());
    }
    window.stop(System.nanoTime(), done());
    course = Optional.of(window.course(size));
    return samples.result(window.counted(), window.nanos());
  }

  /**
   * Takes the completions of what is in flight: neither side closes a queue pair or a region under
   * it. Some cards go on with the requests of a queue pair that is closed, and its number is lost.
   * A side that receives continues until nothing more arrives: the peer's time may end later.
   */
  private void drain() {
    long since = System.nanoTime();
    do {
      int events = receivers.length > 0 ? pollReceives() : 0;
      for (Sender sender : senders) {
        if (!sender.endsSignaled() && sender.canPost()) {
          posted += sender.post();
        }
      }
      if (events + pollSends() > 0) {
        since = System.nanoTime();
      } else {
        Thread.yield();
      }
    } while (System.nanoTime() - since < patience() && !Thread.currentThread().isInterrupted());
  }

  /** How long to wait for something to happen, in nanoseconds. */
  private long patience() {
    return isInFlight() ? PATIENCE : receivers.length > 0 ? QUIET : 0;
  }

  private boolean isInFlight() {
    return completed < posted;
  }

  /** Messages that have gone and, if none are sent, those that have come. */
  private long done() {
    return senders.length == 0 ? received : completed;
  }

  private boolean isDone() {
    return (senders.length == 0 || completed >= total)
        && (receivers.length == 0 || received >= total);
  }

  /** Posts and polls; false when the thread was interrupted. */
  private boolean turn() {
    int events = post();
    if (receivers.length > 0) {
      events += pollReceives();
    }
    if (isInFlight()) {
      events += pollSends();
    }
    if (events > 0) {
      progress.done(done());
      waiting.progress();
      return !Thread.currentThread().isInterrupted();
    }
    if (pace.isHolding()) {
      Thread.onSpinWait();
      return !Thread.currentThread().isInterrupted();
    }
    return waiting.pause();
  }

  private String sofar() {
    return "%d messages were posted, %d completed, %d received%s"
        .formatted(posted, completed, received, timed ? "" : " of " + total);
  }

  private int post() {
    int count = 0;
    for (Sender sender : senders) {
      while (sender.canPost() && pace.mayPost()) {
        samples.posted((int) posted);
        int messages = sender.post();
        pace.posted(messages);
        posted += messages;
        count += messages;
      }
    }
    return count;
  }

  private int pollSends() {
    int count = resources.sends().poll(completions);
    for (int i = 0; i < count; i++) {
      Sender.check(completions, i, "a send request", completed);
      completed += senders[(int) completions.wrId(i)].complete();
      samples.completed((int) completed - 1);
    }
    return count;
  }

  private int pollReceives() {
    int count = resources.receives().poll(completions);
    for (int i = 0; i < count; i++) {
      Sender.check(completions, i, "a receive request", received);
      if (received++ == 0 && senders.length == 0) {
        samples.start(System.nanoTime());
      }
      receivers[(int) completions.wrId(i)].taken();
    }
    return count;
  }
}
