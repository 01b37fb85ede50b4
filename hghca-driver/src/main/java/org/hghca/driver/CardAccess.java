package org.hghca.driver;

import org.hghca.icm.IcmManager;
import org.hghca.mailbox.CommandInterface;
import org.hghca.uar.UarAllocator;
import org.hghca.vfio.PciFunction;

/**
 * The access to a card after bring-up.
 *
 * @param hcrBase offset of the HCR in BAR0
 */
record CardAccess(
    PciFunction function,
    long hcrBase,
    CommandInterface commands,
    IcmManager icm,
    UarAllocator uars) {}
