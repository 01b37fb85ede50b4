package org.hghca.provider.counters;

import org.hghca.verbs.Counters;

/**
 * The {@link Counters} of one open context, for JMX: {@code
 * org.hghca:type=Counters,device="hghca0",context=1}, where contexts are numbered in the order of
 * opening. Registered with the platform's MBean server while the context is open, if the program
 * was started with {@code -Dhghca.jmx=true}. Flight Recorder has the same as event {@code
 * hghca.Counters}, without an option.
 */
public interface CountersMXBean {
  /** {@link Counters#sendsPosted}. */
  long getSendsPosted();

  /** {@link Counters#receivesPosted}. */
  long getReceivesPosted();

  /** {@link Counters#doorbells}. */
  long getDoorbells();

  /** {@link Counters#completions}. */
  long getCompletions();

  /** {@link Counters#failures}. */
  long getFailures();

  /** {@link Counters#flushed}. */
  long getFlushed();

  /** {@link Counters#retriesExceeded}. */
  long getRetriesExceeded();

  /** {@link Counters#rnrRetriesExceeded}. */
  long getRnrRetriesExceeded();

  /** {@link Counters#naks}. */
  long getNaks();

  /** {@link Counters#completionEvents}. */
  long getCompletionEvents();

  /** {@link Counters#missedEvents}. */
  long getMissedEvents();

  /** {@link Counters#asyncEvents}. */
  long getAsyncEvents();

  /** {@link Counters#commands}. */
  long getCommands();

  /** {@link Counters#dmaFaults}. */
  long getDmaFaults();

  /** {@link Counters#sentBytes}. */
  long getSentBytes();

  /** {@link Counters#readBytes}. */
  long getReadBytes();

  /** {@link Counters#receivedBytes}. */
  long getReceivedBytes();

  /** {@link Counters#connectionsMade}. */
  long getConnectionsMade();

  /** {@link Counters#connections}. */
  long getConnections();

  /** {@link Counters#queuePairs}. */
  long getQueuePairs();

  /** {@link Counters#memoryRegions}. */
  long getMemoryRegions();

  /** {@link Counters#registeredBytes}. */
  long getRegisteredBytes();

  /** {@link Counters#pinnedBytes}. */
  long getPinnedBytes();
}
