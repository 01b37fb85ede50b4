package org.hghca.driver.state;

import org.hghca.abi.HcrCommand;
import org.hghca.abi.QueuePairContext;

/** The form in which a card is given the context of a queue pair. Thread-safe. */
@FunctionalInterface
public interface ContextForm {
  /** As it is. */
  ContextForm PLAIN = (command, last, next) -> next;

  /**
   * The context that goes with MODIFY_QP.
   *
   * @param last the context before; not to be changed
   * @param next the new one; not to be changed
   */
  QueuePairContext of(HcrCommand command, QueuePairContext last, QueuePairContext next);
}
