/**
 * The provider of all PCI functions that drivers claim, and what everything that a driver makes is
 * built on. It is not an API for programs.
 *
 * <ul>
 *   <li>The devices: {@link org.hghca.provider.FunctionProvider}, which opens functions for {@link
 *       org.hghca.provider.DeviceDriver}s.
 *   <li>Objects: {@link org.hghca.provider.Resource}, which is closed after all its users; {@link
 *       org.hghca.provider.Undo} for constructions that fail, {@link org.hghca.provider.Failures}
 *       for exceptions of lower layers.
 *   <li>A device: {@link org.hghca.provider.Health}, {@link org.hghca.provider.DeviceThread},
 *       {@link org.hghca.provider.NumberAllocator}, {@link org.hghca.provider.DeferredFree} for
 *       memory that the device may still access.
 * </ul>
 */
package org.hghca.provider;
