/** The slots of queues in memory, by their fields, and what is inconsistent in them. */
package org.hghca.tools.card.ring;
