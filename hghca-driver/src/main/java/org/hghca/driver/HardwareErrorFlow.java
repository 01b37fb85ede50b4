package org.hghca.driver;

import org.hghca.abi.QpcState;
import org.hghca.abi.QueuePairContext;
import org.hghca.mailbox.CommandInterface;
import org.hghca.provider.Failures;
import org.hghca.provider.RingNumbers;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QpType;
import org.hghca.verbs.WcStatus;

/** The states of a queue pair on a card that times out, flushes and answers QUERY_QP by itself. */
final class HardwareErrorFlow implements ErrorFlow {
  private final RecoveredQueuePair qp;
  private final QueuePairState state;
  private final ProgrammedContext context;
  private final CommandInterface commands;

  /** Tells of all that the card has reported so far. */
  private final Runnable settle;

  private final RingNumbers<ReceivePosition> numbers;
  private final ReceiveFlush flush;

  HardwareErrorFlow(
      RecoveredQueuePair qp,
      QueuePairState state,
      ProgrammedContext context,
      CommandInterface commands,
      Runnable settle,
      RingNumbers<ReceivePosition> numbers) {
    this.qp = qp;
    this.state = state;
    this.context = context;
    this.commands = commands;
    this.settle = settle;
    this.numbers = numbers;
    this.flush = new ReceiveFlush(qp.rings(), qp.capabilities().receiveDepth());
  }

  @Override
  public ReceiveFlush flush() {
    return flush;
  }

  // ---- what completions tell

  /**
   * It puts a reliable queue pair in ERR, and so any receive; a send of another type stops only the
   * send queue. A flushed send tells nothing of those types: the error that caused it came before,
   * and the queue pair may have recovered since.
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
  public WcStatus unknownCause(boolean send) {
    return state.hasFailed(send) ? WcStatus.WR_FLUSH_ERR : WcStatus.GENERAL_ERR;
  }

  @Override
  public boolean takeLate(boolean send, int wqe) {
    return false;
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
    if (to == QpState.RTS) {
      commands.settle();
    }
    state.change(from, to);
  }

  @Override
  public void stop(QpState from, QpState to, QpAttributes attributes) {
    boolean resets = to == QpState.RESET;
    QueuePairContext next = resets ? QpContexts.reset(context.last()) : current(from);
    qp.attributes().apply(attributes, to, next);
    // Before the card changes its mind the queues stop taking what it would not see any more.
    state.enter(to);
    try {
      if (resets) {
        giveBackByError(from);
      }
      context.program(from, next);
      if (!resets && qp.sharesReceives()) {
        settle.run();
      }
    } catch (RuntimeException e) {
      state.change(to, from);
      throw e;
    }
    if (resets) {
      // An error of the time before must not be taken for one of the time to come.
      settle.run();
      qp.forget();
    }
  }

  /** Makes the card give back the request that it holds for a message that has begun. */
  private void giveBackByError(QpState from) {
    if (qp.isResetByError() && from != QpState.ERR) {
      QueuePairContext error = context.last().copy();
      context.program(from, error.set(QueuePairContext.STATE, QpcState.ERR));
    }
  }

  /**
   * The context with the sequence numbers that the card has come to by now. A card that replaces
   * the whole context would otherwise go back to those that traffic began with.
   */
  private QueuePairContext current(QpState from) {
    QueuePairContext next = context.last().copy();
    if (from != QpState.RESET && from != QpState.INIT) {
      try {
        QpContexts.copySequenceNumbers(commands.queryQp(qp.number()), next);
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
      qp.tellShare();
    } else if (now == QpState.SQE || before == QpState.SQE) {
      state.change(before, now); // from it: an old error was polled after the recovery
    }
    return QpContexts.attributes(live, now);
  }

  // ---- the end

  @Override
  public int firstReceive() {
    return 0;
  }

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
