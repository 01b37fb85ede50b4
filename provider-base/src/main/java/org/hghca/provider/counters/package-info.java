/**
 * The counters of contexts, as the verbs, Flight Recorder and JMX show them. It is not an API for
 * programs.
 */
package org.hghca.provider.counters;
