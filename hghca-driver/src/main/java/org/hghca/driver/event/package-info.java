/**
 * Event queues of the card, and the thread that reads them and looks at what nobody has told of. It
 * tells whoever {@link org.hghca.driver.event.EventTargets} leads to.
 *
 * <p>Its lock, by which all events of the past are read, is 3 in the lock order of {@link
 * org.hghca.driver}.
 */
package org.hghca.driver.event;
