/** The system calls of Linux that owning a device takes, and what they give: memory and events. */
package org.hghca.vfio.linux;
