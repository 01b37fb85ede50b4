/** What owning a function takes of Linux: memory, and interrupts as events. */
package org.hghca.vfio.linux;
