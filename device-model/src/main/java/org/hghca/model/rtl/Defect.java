package org.hghca.model.rtl;

/**
 * A defect of the first RTL that strikes when two things meet in time. Played only where it is
 * asked for, and then whenever it can strike.
 */
public enum Defect {
  /**
   * A request is entered into the list of outstanding requests in the very cycle in which the last
   * one in it is released. Played for each request that is rung, in a later step, while another of
   * its queue pair is outstanding: its release is taken for the moment of the entry.
   */
  ENQUEUE_RACE,

  /**
   * READs are to be answered while payload of the card's own requests takes the way to the wire.
   * Played when more than 1024 bytes are to be answered at once, beside a SEND or WRITE that takes
   * its payload from several data units, or beside any on a card that talks to itself.
   */
  READ_DEADLOCK
}
