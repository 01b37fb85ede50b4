/**
 * The verbs: devices, contexts, protection domains, memory regions, completion queues and queue
 * pairs, with the names, numbers and rules of libibverbs. Objects are thread-safe; requests and
 * completions belong to one thread at a time.
 */
package org.hghca.verbs;
