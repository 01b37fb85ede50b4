/**
 * Shared receive queues of any provider, and those that a driver deals to the receive queues of
 * queue pairs, for devices that have none. It is not an API for programs.
 */
package org.hghca.provider.srq;
