package org.hghca.model;

import org.hghca.model.card.Card;
import org.hghca.model.card.Faults;
import org.hghca.wire.EthernetPort;

/** Makes the card of a software HCA. */
@FunctionalInterface
interface CardMaker {
  /**
   * Makes it.
   *
   * @param port its port
   * @param faults where it records refused accesses and dropped stores
   * @param interrupts whether the function has interrupt vectors
   */
  Card make(EthernetPort port, Faults faults, boolean interrupts);
}
