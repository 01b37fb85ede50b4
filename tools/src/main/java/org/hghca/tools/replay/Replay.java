package org.hghca.tools.replay;

import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import org.hghca.abi.Bar;
import org.hghca.abi.Doorbell;
import org.hghca.abi.Hcr;
import org.hghca.tools.raw.CardHistory;
import org.hghca.vfio.ConfigurationSpace;
import org.hghca.vfio.MmioRegion;
import org.hghca.vfio.VfioException;

/**
 * Plays a whole trace on a card until its end, or the first difference. Each command is waited for;
 * before each other event the card must have written as many CQEs as the recorded card had. One
 * thread at a time.
 */
public final class Replay implements AutoCloseable {
  private final WholeTrace trace;
  private final ReplayCard card;
  private final ReplayedMemory memory = new ReplayedMemory();
  private final CardHistory history = new CardHistory();
  private final ReplayedHcr hcr = new ReplayedHcr(memory, history);
  private final ReplayedQueues queues;
  private Optional<Difference> difference = Optional.empty();
  private long line;
  private long doorbells;
  private long nanos;
  private boolean closed;

  /**
   * A replay that has not begun.
   *
   * @throws UnplayableException when the card is not of the trace's kind
   */
  public Replay(WholeTrace trace, ReplayCard card) {
    this.trace = trace;
    this.card = card;
    if (card.profile() != trace.profile()) {
      throw new UnplayableException(
          "the trace is of a card of profile %s, and %s is of profile %s: replay it on one of %1$s"
              .formatted(trace.profile().name(), card.locator(), card.profile().name()));
    }
    if (trace.resets() && !card.function().canReset()) {
      throw new UnplayableException(
          "the trace resets its card, and %s cannot be reset: replay it on one that can"
              .formatted(card.locator()));
    }
    this.queues = new ReplayedQueues(card.profile(), history, memory);
  }

  /**
   * Plays it.
   *
   * @throws UnplayableException when something in it cannot be played on this card
   * @throws IOException when the file cannot be read any more
   * @throws IllegalStateException when the thread is interrupted
   */
  public Optional<Difference> run() throws IOException {
    trace.read(
        each -> {
          line = each.number();
          play(each);
          return difference.isEmpty();
        });
    return difference;
  }

  /** The line of the trace that was played last. */
  public long line() {
    return line;
  }

  /** The step of bring-up to which that line belongs; empty outside of one. */
  public String step() {
    return trace.step(line);
  }

  public long commands() {
    return hcr.commands();
  }

  /** How many doorbells of send queues were rung. */
  public long doorbells() {
    return doorbells;
  }

  /** How many CQEs were equal. */
  public long completions() {
    return queues.compared();
  }

  private void play(TraceLine each) {
    if (each.kind().equals("memory")) {
      memory.changed(each);
      return;
    }
    if (each.kind().equals("cqe")) {
      queues.take((int) each.hex("cqn"));
    }
    difference = queues.compare(card::await, limit(each));
    if (difference.isEmpty()) {
      difference = event(each);
    }
  }

  /** As long as an answer may take, behind the time that the recorded program has waited. */
  private Duration limit(TraceLine each) {
    long before = nanos;
    nanos = Math.max(nanos, each.number("ns"));
    return card.limit().plusNanos(nanos - before);
  }

  private Optional<Difference> event(TraceLine each) {
    return switch (each.kind()) {
      case "open" -> open(each);
      case "close" -> closeFunction();
      case "reset-function" -> reset();
      case "map" -> {
        memory.map(each, card.function());
        yield Optional.empty();
      }
      case "unmap" -> {
        memory.unmap(each);
        yield Optional.empty();
      }
      case "config" -> configure(each);
      case "store" -> store(each);
      case "load" -> load(each);
      default -> Optional.empty();
    };
  }

  private Optional<Difference> open(TraceLine each) {
    if (closed) {
      card.reopen(each);
      closed = false;
    }
    return Optional.empty();
  }

  private Optional<Difference> closeFunction() {
    Optional<Difference> last = hcr.abandon().or(queues::endAll);
    history.forget();
    free();
    closed = true;
    return last;
  }

  /** In this order, so that no memory is freed that the card may still access. */
  private void free() {
    if (!closed) {
      card.stop();
      memory.clear();
      card.close();
    }
  }

  private Optional<Difference> reset() {
    Optional<Difference> last = hcr.abandon().or(queues::endAll);
    if (last.isEmpty()) {
      card.reset();
      memory.releaseAll();
      history.forget();
    }
    return last;
  }

  private Optional<Difference> configure(TraceLine each) {
    if (each.hex("at") == ConfigurationSpace.COMMAND) {
      card.configure((int) each.hex("value"));
    }
    return Optional.empty();
  }

  private Optional<Difference> store(TraceLine each) {
    int bar = bar(each);
    long offset = each.hex("at");
    long value = each.hex("value");
    if (isHcr(bar, offset)) {
      return hcr.store((int) (offset - trace.hcrBase()), (int) value, card.hcr());
    }
    if (bar == Bar.BAR2 && offset % Bar.UAR_PAGE_SIZE == Doorbell.SEND_QUEUE) {
      doorbells++;
    }
    MmioRegion registers = card.function().region(bar);
    int width = (int) each.number("width");
    if (offset > registers.size() - width) {
      return Optional.of(
          new Difference(
              "store to BAR%d + 0x%x".formatted(bar, offset),
              "inside of it",
              "it has 0x%x bytes".formatted(registers.size())));
    }
    registers.write(offset, width, value);
    return Optional.empty();
  }

  private Optional<Difference> load(TraceLine each) {
    long at = each.hex("at") - trace.hcrBase();
    return bar(each) == Bar.BAR0 && at == Hcr.COMMAND
        ? hcr.loaded((int) each.hex("value"), queues)
        : Optional.empty();
  }

  private static int bar(TraceLine each) {
    return each.text("at").charAt(0) - '0';
  }

  private boolean isHcr(int bar, long offset) {
    long at = offset - trace.hcrBase();
    return bar == Bar.BAR0 && at >= 0 && at < Hcr.SIZE;
  }

  /** Gives the card back, wherever the replay has ended. */
  @Override
  public void close() {
    try {
      free();
    } catch (VfioException e) {
      // The card is gone, and so is its access to memory.
    }
    closed = true;
  }
}
