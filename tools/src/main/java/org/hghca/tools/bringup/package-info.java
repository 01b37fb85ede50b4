/**
 * Bringing a board up: a session of steps, each with expected and actual values and all its
 * commands. The first steps access the registers and the command interface directly, the later ones
 * use the driver.
 */
package org.hghca.tools.bringup;
