package org.hghca.driver;

import jdk.jfr.FlightRecorder;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.HcrCommand;
import org.hghca.abi.QpcState;
import org.hghca.abi.QueuePairContext;
import org.hghca.mailbox.CommandInterface;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QpType;

/**
 * The context that the card was given last for a queue pair. MODIFY_QP replaces the whole context
 * in the card, so the driver keeps all of it and sends all of it each time.
 *
 * <p>Changed under the queue pair's monitor; others may see an older one.
 */
final class ProgrammedContext {
  private final QpType type;
  private final CommandInterface commands;
  private final HardwareProfile profile;
  private final int number;
  private volatile QueuePairContext last;

  /**
   * Nothing was given yet.
   *
   * @param fresh what the queue pair begins with
   */
  ProgrammedContext(
      QpType type, QueuePairContext fresh, CommandInterface commands, HardwareProfile profile) {
    this.type = type;
    this.last = fresh;
    this.number = fresh.get(QueuePairContext.LOCAL_QPN);
    this.commands = commands;
    this.profile = profile;
  }

  /** Not to be changed. */
  QueuePairContext last() {
    return last;
  }

  /** Keeps a context that the card need not be given now, in the state that the card knows. */
  void keep(QueuePairContext next) {
    last = next.set(QueuePairContext.STATE, last.get(QueuePairContext.STATE));
  }

  /** Gives the card another context, by the command that leads from a state to its state. */
  void program(QpState from, QueuePairContext next) {
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

  /** Has the card forget the queue pair, which is closed. */
  void end() {
    give(HcrCommand.ERR2RST, QpContexts.reset(last));
  }

  /**
   * A card that answers messages in every state stays in ERR instead of RST, and keeps its peer and
   * sequence numbers: the peer hears of an error then. From RST, where all of that is 0, the answer
   * would go to queue pair 0 of the peer's card, which stops by it.
   */
  private void give(HcrCommand command, QueuePairContext context) {
    boolean stays =
        command == HcrCommand.ERR2RST && type == QpType.RC && profile.initAcknowledges();
    QueuePairContext given =
        stays ? last.copy().set(QueuePairContext.STATE, QpcState.ERR) : context;
    commands.modifyQp(command, number, QpContexts.forCard(given, profile));
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

  /** What executes a transition: tables A1-1 and A1-2 of the interface document. */
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
