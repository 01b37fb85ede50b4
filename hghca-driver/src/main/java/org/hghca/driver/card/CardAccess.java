package org.hghca.driver.card;

import org.hghca.icm.IcmManager;
import org.hghca.mailbox.CommandInterface;
import org.hghca.uar.UarAllocator;
import org.hghca.vfio.PciFunction;

/**
 * The access to a card after bring-up.
 *
 * @param hcrBase offset of the HCR in BAR0
 */
public record CardAccess(
    PciFunction function,
    long hcrBase,
    CommandInterface commands,
    IcmManager icm,
    UarAllocator uars) {}
