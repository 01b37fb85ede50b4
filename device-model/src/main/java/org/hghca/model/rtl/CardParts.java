package org.hghca.model.rtl;

import org.hghca.wire.EthernetPort;

/**
 * What a data path uses of its card.
 *
 * @param doorbells those that wait for the send side
 * @param hazards where it records what stops or corrupts the card
 */
public record CardParts(
    Contexts contexts,
    Translation translation,
    Doorbells doorbells,
    EthernetPort port,
    Hazards hazards) {}
