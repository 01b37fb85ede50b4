/**
 * The InfiniBand reliable connection: requester and responder working on packets. Knows no register
 * and no work queue format; the device around it lends it contexts, work requests, memory by key
 * and a place for completions.
 */
package org.hghca.model.transport;
