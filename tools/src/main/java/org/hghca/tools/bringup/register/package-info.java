/** The steps on registers, commands, tables and rings of a card, without the driver. */
package org.hghca.tools.bringup.register;
