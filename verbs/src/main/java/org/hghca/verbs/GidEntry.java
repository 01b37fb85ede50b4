package org.hghca.verbs;

/**
 * A line of a port's GID table.
 *
 * @param index from 0
 */
public record GidEntry(Gid gid, int port, int index, GidType type) {}
