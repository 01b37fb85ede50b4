/**
 * A run that was recorded whole on one card and is played on another one: the same commands, the
 * same memory, the same doorbells, with the bus addresses of the other one; and the first thing
 * that the other one does differently.
 */
package org.hghca.tools.replay;
