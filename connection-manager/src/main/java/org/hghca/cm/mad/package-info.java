/**
 * The management datagrams (MADs) of the InfiniBand connection manager: class 7, version 2, as
 * records, and their layouts. Nothing here has a state.
 *
 * <p>{@code x[7:3]} in a comment is bits 7 to 3 of byte x of the 232 bytes behind the header.
 * Fields that have no component are 0 in a datagram that is written, and ignored in one that is
 * read.
 *
 * <p>Source: InfiniBand Architecture Specification, volume 1, chapter 12; the header that names
 * addresses: annex A11.
 */
package org.hghca.cm.mad;
