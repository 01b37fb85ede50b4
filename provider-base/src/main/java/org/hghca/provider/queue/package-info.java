/**
 * What queues of any device need: locks, rings, sizes, room for completions. It is not an API for
 * programs.
 */
package org.hghca.provider.queue;
