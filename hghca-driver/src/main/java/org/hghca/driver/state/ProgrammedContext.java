package org.hghca.driver.state;

import jdk.jfr.FlightRecorder;
import org.hghca.abi.HcrCommand;
import org.hghca.abi.QueuePairContext;
import org.hghca.mailbox.CommandInterface;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QpType;

/**
 * The context of a queue pair that was last passed to the card. MODIFY_QP takes a whole context
 * with a mask of what changes (table A1-2), so the driver keeps it and always sends all of it.
 *
 * <p>Changed under the queue pair's monitor; others may see an older one.
 */
public final class ProgrammedContext {
  private final QpType type;
  private final CommandInterface commands;
  private final ContextForm form;
  private final int number;
  private volatile QueuePairContext last;

  /**
   * Before the first command.
   *
   * @param fresh the initial context of the queue pair
   * @param form in which the card is given contexts
   */
  public ProgrammedContext(
      QpType type, QueuePairContext fresh, CommandInterface commands, ContextForm form) {
    this.type = type;
    this.last = fresh;
    this.number = fresh.get(QueuePairContext.LOCAL_QPN);
    this.commands = commands;
    this.form = form;
  }

  /** Not to be changed. */
  public QueuePairContext last() {
    return last;
  }

  /** Stores a context that need not be passed to the card now, in the card's current state. */
  public void keep(QueuePairContext next) {
    last = next.set(QueuePairContext.STATE, last.get(QueuePairContext.STATE));
  }

  /** Passes a new context to the card, with the command for the transition. */
  public void program(QpState from, QueuePairContext next) {
    HcrCommand command = command(from, QpContexts.state(next));
    QueuePairTransitionEvent event =
        FlightRecorder.isInitialized() ? new QueuePairTransitionEvent() : null;
    if (event != null) {
      event.begin();
    }
    give(command, next);
    if (event != null) {
      event.end();
      record(event, command, from, next);
    }
    last = next;
  }

  /** Makes the card release the queue pair, which is closed. */
  public void end() {
    give(HcrCommand.ERR2RST, QpContexts.reset(last));
  }

  private void give(HcrCommand command, QueuePairContext context) {
    commands.modifyQp(command, number, form.of(command, last, context));
  }

  private void record(
      QueuePairTransitionEvent event, HcrCommand command, QpState from, QueuePairContext next) {
    if (event.shouldCommit()) {
      event.qpn = number;
      event.type = type.name();
      event.from = from.name();
      event.to = QpContexts.state(next).name();
      event.command = command.name();
      event.commit();
    }
  }

  /** The commands of transitions: tables A1-1 and A1-2 of the interface document. */
  private static HcrCommand command(QpState from, QpState to) {
    return switch (to) {
      case RESET -> HcrCommand.ERR2RST;
      case INIT -> from == QpState.RESET ? HcrCommand.RST2INIT : HcrCommand.INIT2INIT;
      case RTR -> HcrCommand.INIT2RTR;
      case RTS ->
          switch (from) {
            case RTR -> HcrCommand.RTR2RTS;
            case SQE -> HcrCommand.SQERR2RTS;
            case SQD -> HcrCommand.SQD2RTS;
            default -> HcrCommand.RTS2RTS;
          };
      case ERR -> HcrCommand.ANY2ERR;
      case SQD -> from == QpState.SQD ? HcrCommand.SQD2SQD : HcrCommand.RTS2SQD;
      case SQE -> throw new IllegalArgumentException(to.toString());
    };
  }
}
