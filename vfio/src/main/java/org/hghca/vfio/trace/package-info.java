/**
 * A time line of what software saw of a device: commands, doorbells, completions, events,
 * interrupts, mappings. A locator with {@code trace=FILE} asks for it. Each layer defines the
 * {@link org.hghca.vfio.trace.TraceKind kinds} of what it sees, and records them in the {@link
 * org.hghca.vfio.trace.DeviceTrace} of its device; a {@link org.hghca.vfio.trace.TraceFile}
 * collects the devices and writes the file.
 */
package org.hghca.vfio.trace;
