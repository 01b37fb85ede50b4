/** Memory for programs, of a kind that a device shares. */
package org.hghca.vfio.memory;
