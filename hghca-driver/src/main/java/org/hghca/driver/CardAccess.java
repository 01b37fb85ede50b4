package org.hghca.driver;

import org.hghca.icm.IcmManager;
import org.hghca.mailbox.CommandInterface;
import org.hghca.uar.UarAllocator;
import org.hghca.vfio.PciFunction;

/**
 * How a card is reached that was brought up.
 *
 * @param hcrBase where in BAR0 the HCR was found
 */
record CardAccess(
    PciFunction function,
    long hcrBase,
    CommandInterface commands,
    IcmManager icm,
    UarAllocator uars) {}
