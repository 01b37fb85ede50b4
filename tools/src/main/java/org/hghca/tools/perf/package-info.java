/**
 * Throughput and latency of the verbs, as the programs of perftest measure and print them. {@link
 * org.hghca.tools.perf.PerfSession} is one run; it speaks with its peer by {@link
 * org.hghca.tools.perf.Conversation}, which perftest has as well.
 */
package org.hghca.tools.perf;
