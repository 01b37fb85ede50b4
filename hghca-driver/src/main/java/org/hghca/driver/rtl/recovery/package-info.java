/**
 * How a queue pair of the makers' RTL goes through its states, meets errors and ends: the driver
 * finds sends that will not complete, has the card follow into ERR, flushes in its stead and knows
 * which numbers can be used again.
 *
 * <p>Works under the monitor of a queue pair, 1 in the lock order of {@link org.hghca.driver};
 * completions tell of errors under 5. It has no lock of its own.
 *
 * <p>Five classes name each other: a device's state flows share its maintenance ({@code
 * DeviceRecovery}, {@code SoftwareMaintenance}), which looks at each flow, and a flow whose sends
 * time out ({@code StateFlowBySoftware}, {@code SendTimeout}, {@code ErrorEntry}) asks that of its
 * peer on the same device why, and tells the maintenance.
 */
package org.hghca.driver.rtl.recovery;
