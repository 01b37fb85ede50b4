/**
 * Event queues of the card, and the thread that reads them and checks for changes that no event
 * reports. It notifies the targets in {@link org.hghca.driver.event.EventTargets}.
 *
 * <p>Its lock, under which all earlier events are read, is 3 in the lock order of {@link
 * org.hghca.driver}.
 */
package org.hghca.driver.event;
