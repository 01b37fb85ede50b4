/**
 * Shared receive queues of any provider, and those that a driver deals to the receive queues of
 * queue pairs, for devices that have none. It is not an API for programs.
 *
 * <ul>
 *   <li>{@code SharedQueue}: a shared receive queue, of the device or dealt by the driver;
 *   <li>{@code SoftwareSrq}: one that the driver deals; its waiting requests are {@code
 *       SharedRequests};
 *   <li>{@code SharedReceives}: what a queue pair has of a shared receive queue, of either kind;
 *   <li>{@code ReceiveShare}: the same of one that is dealt, over the queue pair's own {@code
 *       DealtRing}.
 * </ul>
 */
package org.hghca.provider.srq;
