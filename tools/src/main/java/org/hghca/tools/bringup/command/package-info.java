/** The commands {@code hghca bringup} and their options. */
package org.hghca.tools.bringup.command;
