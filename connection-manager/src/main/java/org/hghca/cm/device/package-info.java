/** A device that is in use: its carriers, which all of its users share, and its failure. */
package org.hghca.cm.device;
