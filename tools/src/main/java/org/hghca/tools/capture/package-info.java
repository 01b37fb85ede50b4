/** The commands {@code hghca capture} and {@code hghca decode}: packets as lines and as JSON. */
package org.hghca.tools.capture;
