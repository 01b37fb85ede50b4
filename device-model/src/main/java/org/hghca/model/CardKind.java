package org.hghca.model;

import java.util.Set;
import java.util.function.Consumer;
import org.hghca.model.fault.CardType;
import org.hghca.vfio.Locator;
import org.hghca.wire.frame.Encapsulation;

/**
 * What distinguishes a software card from those of other kinds.
 *
 * @param type which kind of card it is, as faults name it
 * @param maker makes it
 * @param encapsulation of its packets on a network outside of this process
 * @param ownParameters parameters of the plug or the network that mean something to the card, too
 * @param checkNetwork refuses a locator with a network that the card cannot have
 */
record CardKind(
    CardType type,
    CardMaker maker,
    Encapsulation encapsulation,
    Set<String> ownParameters,
    Consumer<Locator> checkNetwork) {}
