/**
 * The InfiniBand transport services: reliable and unreliable connections and datagrams, each with a
 * sending and a receiving half that work on packets. Independent of registers and work queue
 * formats; the device provides contexts, work requests, memory by key and a sink for completions.
 */
package org.hghca.model.transport;
