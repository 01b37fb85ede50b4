package org.hghca.model.rtl.r1;

/**
 * A timing-dependent defect of the first RTL. Modelled only on request, and then at every
 * opportunity.
 */
public enum Defect {
  /**
   * A request is entered into the list of outstanding requests in the same cycle in which the last
   * one in it is released. Modelled for each request that is rung, in a later step, while another
   * of its queue pair is outstanding: the release is treated as simultaneous with the entry.
   */
  ENQUEUE_RACE,

  /**
   * READs must be answered while payload of the card's own requests is on its way to the wire.
   * Modelled when more than 1024 bytes must be answered at once during a SEND or WRITE whose
   * payload comes from several data units, or during any on a card that is looped back. Without
   * this the card stops only beyond the measured bounds.
   */
  READ_DEADLOCK
}
