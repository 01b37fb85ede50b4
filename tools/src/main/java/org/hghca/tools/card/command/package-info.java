/** The command {@code hghca card}: its options and its prompt. */
package org.hghca.tools.card.command;
