/**
 * Throughput and latency of the verbs, as the programs of perftest measure and print them: what is
 * measured, and how.
 */
package org.hghca.programs.perf;
