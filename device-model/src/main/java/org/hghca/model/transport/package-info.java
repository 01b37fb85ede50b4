/**
 * The InfiniBand transport services: reliable and unreliable connections and datagrams, each with a
 * sending and a receiving half that work on packets. Knows no register and no work queue format;
 * the device around it lends it contexts, work requests, memory by key and a place for completions.
 */
package org.hghca.model.transport;
