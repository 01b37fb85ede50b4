/**
 * Bringing a board up: a session of steps, each with what was expected, what was seen and every
 * command that it gave. The first steps drive the registers and the command interface by
 * themselves, the later ones go through the driver.
 */
package org.hghca.tools.bringup;
