/**
 * From what failed to what is likely wrong: how bytes differ, and which pattern of failed steps
 * points to which part of a device.
 */
package org.hghca.tools.bringup.cause;
