package org.hghca.driver.transition;

import org.hghca.abi.QpcState;
import org.hghca.abi.QueuePairContext;
import org.hghca.driver.ring.ReceivePosition;
import org.hghca.driver.state.ProgrammedContext;
import org.hghca.driver.state.QpContexts;
import org.hghca.driver.state.QueuePairState;
import org.hghca.mailbox.CommandInterface;
import org.hghca.provider.Failures;
import org.hghca.provider.queue.RingNumbers;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QpType;
import org.hghca.verbs.WcStatus;

/** The states of a queue pair on a card that itself times out, flushes and answers QUERY_QP. */
public final class StateFlowByCard implements StateFlow {
  private final DriverQueuePair qp;
  private final QueuePairState state;
  private final ProgrammedContext context;
  private final CommandInterface commands;

  /** Delivers all events that the card has written so far. */
  private final Runnable deliverEvents;

  private final RingNumbers<ReceivePosition> numbers;
  private final ReceiveFlush flush;

  public StateFlowByCard(
      DriverQueuePair qp,
      QueuePairState state,
      ProgrammedContext context,
      CommandInterface commands,
      Runnable deliverEvents,
      RingNumbers<ReceivePosition> numbers) {
    this.qp = qp;
    this.state = state;
    this.context = context;
    this.commands = commands;
    this.deliverEvents = deliverEvents;
    this.numbers = numbers;
    this.flush = new ReceiveFlush(qp.rings(), qp.capabilities().receiveDepth());
  }

  @Override
  public ReceiveFlush flush() {
    return flush;
  }

  // ---- reports of completions

  /**
   * An error puts a reliable queue pair in ERR, and so does any failed receive; a failed send of
   * another type stops only the send queue. A flushed send of those types is no new error: its
   * cause came before, and the queue pair may have recovered since.
   */
  @Override
  public void reported(boolean send, WcStatus status) {
    if (qp.type() == QpType.RC || !send) {
      qp.failed();
    } else if (status != WcStatus.WR_FLUSH_ERR) {
      state.change(QpState.RTS, QpState.SQE);
      state.change(QpState.SQD, QpState.SQE);
    }
  }

  @Override
  public void failed() {}

  // ---- states

  @Override
  public void announced(int psn) {}

  @Override
  public void advance(QpState from, QpState to, QpAttributes attributes) {
    QueuePairContext next = current(from);
    qp.attributes().apply(attributes, to, next);
    context.program(from, next);
    state.change(from, to);
  }

  @Override
  public void stop(QpState from, QpState to, QpAttributes attributes) {
    boolean resets = to == QpState.RESET;
    QueuePairContext next = resets ? QpContexts.reset(context.last()) : current(from);
    qp.attributes().apply(attributes, to, next);
    // Before the card changes its state, the queues stop accepting requests that it would not
    // process.
    state.enter(to);
    try {
      if (resets) {
        giveBackByError(from);
      }
      context.program(from, next);
      if (!resets && qp.sharesReceives()) {
        deliverEvents.run();
      }
    } catch (RuntimeException e) {
      state.change(to, from);
      throw e;
    }
    if (resets) {
      // An earlier error must not be mistaken for a later one.
      deliverEvents.run();
      qp.forget();
    }
  }

  /** Makes the card return the request that it holds for a message in progress. */
  private void giveBackByError(QpState from) {
    if (qp.isResetByError() && from != QpState.ERR) {
      QueuePairContext error = context.last().copy();
      context.program(from, error.set(QueuePairContext.STATE, QpcState.ERR));
    }
  }

  /**
   * The last context with the card's current sequence numbers and paths. MODIFY_QP gives a whole
   * context, of which the mask selects what changes: the rest is what the card has already.
   */
  private QueuePairContext current(QpState from) {
    QueuePairContext next = context.last().copy();
    if (from != QpState.RESET && from != QpState.INIT) {
      try {
        QueuePairContext live = commands.queryQp(qp.number());
        QpContexts.copySequenceNumbers(live, next);
        QpContexts.copyPaths(live, next);
      } catch (RuntimeException e) {
        throw Failures.of("cannot query " + qp.describe(), e);
      }
    }
    return next;
  }

  @Override
  public QpAttributes query() {
    QpState before = state.get();
    QueuePairContext live = commands.queryQp(qp.number());
    QpState now = QpContexts.state(live);
    if (now == QpState.ERR) {
      qp.failed();
      qp.notifyShare();
    } else if (now == QpState.SQE || before == QpState.SQE) {
      state.change(before, now); // from it: an old error was polled after the recovery
    }
    return QpContexts.attributes(live, now);
  }

  // ---- the end

  @Override
  public void reset() {
    flush.reset();
  }

  @Override
  public void end(QpState last) {
    giveBackByError(last);
  }

  @Override
  public void freeNumber() {
    numbers.free(qp.number());
  }
}
