/**
 * The command layer: the HCR, mailboxes in DMA memory, and one typed method for each command of the
 * card ({@link org.hghca.mailbox.CommandInterface}).
 */
package org.hghca.mailbox;
