/**
 * The parts that any driver beneath the verbs needs, independent of its device. It is not an API
 * for programs.
 *
 * <ul>
 *   <li>Objects: {@link org.hghca.provider.Resource}, which is closed after all its users; {@link
 *       org.hghca.provider.Undo} for constructions that fail, {@link org.hghca.provider.Failures}
 *       for exceptions of lower layers.
 *   <li>Events: {@link org.hghca.provider.EventChannel} for completions, {@link
 *       org.hghca.provider.ResourceEvents} for asynchronous events, both {@link
 *       org.hghca.provider.EventFifo}s.
 *   <li>The devices: {@link org.hghca.provider.FunctionProvider}, which opens functions for {@link
 *       org.hghca.provider.DeviceDriver}s; {@link org.hghca.provider.AbstractContext} and {@link
 *       org.hghca.provider.AbstractProtectionDomain} for their objects.
 *   <li>The device: {@link org.hghca.provider.Health}, {@link org.hghca.provider.DeviceThread},
 *       {@link org.hghca.provider.ContextCounters}, {@link org.hghca.provider.NumberAllocator}.
 *   <li>Memory: {@link org.hghca.provider.RegionMemory} of applications, {@link
 *       org.hghca.provider.RingSlabs} of rings, {@link org.hghca.provider.DeferredFree} for memory
 *       that the device may still access.
 *   <li>Queues: {@link org.hghca.provider.SpinLock}, {@link org.hghca.provider.OwnerCheck}, {@link
 *       org.hghca.provider.FlushedRequests}; shared receive queues are a package of their own.
 *   <li>Addresses: {@link org.hghca.provider.AddressTable}, {@link org.hghca.provider.Neighbors}.
 * </ul>
 */
package org.hghca.provider;
