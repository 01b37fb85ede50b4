/**
 * The board of a session: the function, its registers and tables without the driver of the verbs,
 * and\n * the same board through that driver.
 */
package org.hghca.tools.bringup.board;
