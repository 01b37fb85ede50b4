/**
 * The verbs: devices, contexts, protection domains, memory regions, completion queues and channels,
 * shared receive queues, address handles, asynchronous events and queue pairs, with the names,
 * numbers and rules of libibverbs. Objects are thread-safe; requests and completions belong to one
 * thread at a time. What a device cannot do fails with EOPNOTSUPP and changes nothing.
 */
package org.hghca.verbs;
