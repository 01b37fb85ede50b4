/**
 * Links: media that lead out of the process, such as UDP sockets of the kernel, and the one thread
 * that reads from all of them.
 */
package org.hghca.wire.link;
