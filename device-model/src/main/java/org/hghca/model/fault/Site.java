package org.hghca.model.fault;

import org.hghca.model.card.Card;
import org.hghca.vfio.DeviceBus;
import org.hghca.wire.EthernetPort;

/**
 * Where a fault acts.
 *
 * @param type what kind of card it is
 * @param card the card without the fault
 * @param bus the host as it is
 * @param port the card's
 * @param watch what the driver has told the card
 */
record Site(CardType type, Card card, DeviceBus bus, EthernetPort port, Watch watch) {}
