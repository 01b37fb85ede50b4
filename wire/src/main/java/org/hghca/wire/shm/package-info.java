/**
 * Shared memory between processes of one user on one machine: members of a named medium meet in a
 * directory, and each gives each other one ring of records. Whatever a member writes is taken as
 * what a network brings: read once, then checked.
 */
package org.hghca.wire.shm;
