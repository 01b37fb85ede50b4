/**
 * What only the makers' RTL needs, the first and the second, with the reasons; {@link
 * org.hghca.driver.rtl.RtlFamily} makes it for a device. It checks requests, because the card stops
 * at bad ones; it counts doorbells, because the card drops those beyond a few; and it finds errors,
 * flushes and reuses numbers, because the card does none of that. Only the bring-up names these
 * packages: no other part of the driver knows that there is an RTL.
 *
 * <p>{@link org.hghca.driver.rtl.recovery} is the state flows, {@link org.hghca.driver.rtl.ring}
 * the rings. Each uses only those behind it.
 *
 * <p>What every card is asked is elsewhere, because a card that follows the document answers it,
 * too:
 *
 * <ul>
 *   <li>which card it is, and where its command register is: {@code bringup.Recognition};
 *   <li>what it supports, and what a program has to know of it: {@code card.Features};
 *   <li>how much of each it has: {@code card.Limits}, whose {@code ownElements} is a slot more in
 *       each send ring, and whose {@code maxSrq} is 0 on the RTL;
 *   <li>how its tables are mapped and unmapped: {@code org.hghca.icm};
 *   <li>sizes, strides, opcodes and other values: {@code org.hghca.abi.HardwareProfile}, as rings,
 *       registration, event queues and commands read them.
 * </ul>
 *
 * <p>Numbers that were retired and the use of PSNs are reported by {@link
 * org.hghca.driver.RetiredNumbers} and {@link org.hghca.driver.PsnUse}, which are exported.
 */
package org.hghca.driver.rtl;
