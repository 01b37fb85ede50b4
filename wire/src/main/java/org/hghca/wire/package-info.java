/** Packets as a RoCE network knows them, ports, and the medium between two ports. */
package org.hghca.wire;
