package org.hghca.mailbox;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.hghca.abi.CommandStatus;
import org.hghca.abi.Hcr;
import org.hghca.mailbox.MailboxPool.Mailbox;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunction;

/**
 * Passes commands to the card one after another and returns their results, until the card fails.
 * Thread-safe.
 */
final class CommandChannel implements AutoCloseable {
  /** Only one command is in progress; it has at most an inbox and an outbox. */
  private static final int MAILBOXES = 2;

  private final Locator locator;
  private final HcrPort hcr;
  private final MailboxPool mailboxes;
  private final CommandTrace trace;
  private final ReentrantLock lock = new ReentrantLock();
  private final List<Consumer<? super Throwable>> fatalListeners = new ArrayList<>();
  private final AtomicLong given = new AtomicLong();
  private DeviceFatalException fatal;
  private boolean closed;

  CommandChannel(PciFunction function, long hcrBase, Duration limit) {
    this.locator = function.locator();
    this.hcr = new HcrPort(function, hcrBase, limit);
    this.mailboxes = new MailboxPool(function, MAILBOXES);
    this.trace = new CommandTrace(function);
  }

  /** Checks that a free HCR responds. */
  void check(PciFunction function) {
    hcr.check(function);
  }

  void onFatal(Consumer<? super Throwable> listener) {
    DeviceFatalException already;
    lock.lock();
    try {
      already = fatal;
      if (already == null) {
        fatalListeners.add(listener);
      }
    } finally {
      lock.unlock();
    }
    if (already != null) {
      listener.accept(already);
    }
  }

  /** Number of commands that the card was given. */
  long given() {
    return given.get();
  }

  void deviceWasReset() {
    lock.lock();
    try {
      mailboxes.releaseWithheld();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      mailboxes.releaseIdle();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Gives one command.
   *
   * @return what the outbox holds; null for a command without one
   */
  <T> T execute(Command<T> command) {
    List<Consumer<? super Throwable>> listeners = List.of();
    DeviceFatalException failure = null;
    lock.lock();
    try {
      if (closed) {
        throw new IllegalStateException("the command interface of %s is closed".formatted(locator));
      }
      if (fatal != null) {
        throw new DeviceFatalException(
            "%s is dead and did not get %s: reset it and bring it up again"
                .formatted(locator, command),
            fatal);
      }
      return transact(command);
    } catch (DeviceFatalException e) {
      if (fatal == null) {
        fatal = e;
        failure = e;
        listeners = List.copyOf(fatalListeners);
      }
      throw e;
    } finally {
      lock.unlock();
      notifyListeners(listeners, failure);
    }
  }

  /**
   * Called without the lock, so that listeners may wait for other threads that use this channel.
   */
  private static void notifyListeners(
      List<Consumer<? super Throwable>> listeners, DeviceFatalException failure) {
    for (Consumer<? super Throwable> listener : listeners) {
      try {
        listener.accept(failure);
      } catch (RuntimeException e) {
        failure.addSuppressed(e);
      }
    }
  }

  private <T> T transact(Command<T> command) {
    try (Mailbox inbox = command.inbox() == null ? null : mailboxes.lend();
        Mailbox outbox = command.outbox() == null ? null : mailboxes.lend()) {
      if (inbox != null) {
        command.inbox().encode().accept(inbox.segment());
      }
      int status = give(command, inbox, outbox);
      if (status != CommandStatus.OK.code()) {
        throw new CommandException(
            locator, command.opcode(), command.opModifier(), command.inModifier(), status);
      }
      return outbox == null ? null : command.outbox().decode().apply(outbox.segment());
    }
  }

  private int give(Command<?> command, Mailbox inbox, Mailbox outbox) {
    given.incrementAndGet();
    long inParam = inbox == null ? command.immediate() : inbox.iova();
    CommandTrace.Watch watch = trace.begin();
    boolean ended = false;
    try {
      int status =
          hcr.execute(
              command,
              inParam,
              command.inModifier(),
              outbox == null ? 0 : outbox.iova(),
              Hcr.command(command.opcode().code(), command.opModifier()));
      ended = true;
      if (watch.ended(command, inParam, status)) {
        watch.report(
            command,
            inbox == null ? null : inbox.segment(),
            outbox == null || status != CommandStatus.OK.code() ? null : outbox.segment(),
            CommandStatus.describe(status));
      }
      return status;
    } catch (DeviceFatalException e) {
      if (watch.ended(command, inParam, CommandSpan.UNANSWERED)) {
        watch.report(command, inbox == null ? null : inbox.segment(), null, e.getMessage());
      }
      throw e;
    } finally {
      if (!ended) {
        // The card may still complete the command, and then access its mailboxes.
        withhold(inbox);
        withhold(outbox);
      }
    }
  }

  private static void withhold(Mailbox mailbox) {
    if (mailbox != null) {
      mailbox.withhold();
    }
  }
}
