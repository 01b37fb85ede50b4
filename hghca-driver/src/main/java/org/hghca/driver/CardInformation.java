package org.hghca.driver;

import java.util.List;
import org.hghca.abi.DeviceLimits;
import org.hghca.icm.IcmUsage;

/**
 * A card as its driver sees it.
 *
 * @param profile which profile of the card is in use: s, r1 or r2
 * @param hcrBase offset of the command register in BAR0
 * @param boardId as QUERY_ADAPTER returned it (table 3-2-6)
 * @param limits as QUERY_DEV_LIM returned them (table 3-2-3)
 * @param retired numbers that are not reused before the card is reset
 * @param psns use of packet sequence numbers
 * @param icm use of the interconnect context memory, table by table
 */
public record CardInformation(
    String profile,
    long hcrBase,
    long boardId,
    DeviceLimits limits,
    RetiredNumbers retired,
    PsnUse psns,
    List<IcmUsage> icm) {}
