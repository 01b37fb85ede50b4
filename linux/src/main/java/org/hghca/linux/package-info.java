/** The system calls of Linux, one method each, with the errors that the kernel returns. */
package org.hghca.linux;
