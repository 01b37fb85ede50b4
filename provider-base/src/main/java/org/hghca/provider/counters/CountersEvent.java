package org.hghca.provider.counters;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Period;
import jdk.jfr.StackTrace;
import org.hghca.verbs.Counters;

/** Flight Recorder's view of the counters of one open context. */
@Name("hghca.Counters")
@Label("HCA Counters")
@Category("HGHCA")
@Description("What a context has done since it was opened")
@Period("1 s")
@StackTrace(false)
@SuppressWarnings("unused")
final class CountersEvent extends Event {
  @Label("Device")
  String device;

  @Label("Context")
  @Description("Contexts are numbered in the order of opening")
  long context;

  @Label("Sends Posted")
  long sendsPosted;

  @Label("Receives Posted")
  long receivesPosted;

  @Label("Doorbells")
  long doorbells;

  @Label("Completions")
  long completions;

  @Label("Failures")
  long failures;

  @Label("Flushed")
  long flushed;

  @Label("Retries Exceeded")
  long retriesExceeded;

  @Label("RNR Retries Exceeded")
  long rnrRetriesExceeded;

  @Label("NAKs")
  long naks;

  @Label("Completion Events")
  long completionEvents;

  @Label("Missed Events")
  long missedEvents;

  @Label("Async Events")
  long asyncEvents;

  @Label("Commands")
  long commands;

  @Label("DMA Faults")
  long dmaFaults;

  @Label("Sent Bytes")
  @DataAmount
  long sentBytes;

  @Label("Read Bytes")
  @DataAmount
  long readBytes;

  @Label("Received Bytes")
  @DataAmount
  long receivedBytes;

  @Label("Connections Made")
  long connectionsMade;

  @Label("Connections")
  long connections;

  @Label("Queue Pairs")
  long queuePairs;

  @Label("Memory Regions")
  long memoryRegions;

  @Label("Registered Bytes")
  @DataAmount
  long registeredBytes;

  @Label("Pinned Bytes")
  @DataAmount
  long pinnedBytes;

  CountersEvent(String device, long context, Counters counters) {
    this.device = device;
    this.context = context;
    sendsPosted = counters.sendsPosted();
    receivesPosted = counters.receivesPosted();
    doorbells = counters.doorbells();
    completions = counters.completions();
    failures = counters.failures();
    flushed = counters.flushed();
    retriesExceeded = counters.retriesExceeded();
    rnrRetriesExceeded = counters.rnrRetriesExceeded();
    naks = counters.naks();
    completionEvents = counters.completionEvents();
    missedEvents = counters.missedEvents();
    asyncEvents = counters.asyncEvents();
    commands = counters.commands();
    dmaFaults = counters.dmaFaults();
    sentBytes = counters.sentBytes();
    readBytes = counters.readBytes();
    receivedBytes = counters.receivedBytes();
    connectionsMade = counters.connectionsMade();
    connections = counters.connections();
    queuePairs = counters.queuePairs();
    memoryRegions = counters.memoryRegions();
    registeredBytes = counters.registeredBytes();
    pinnedBytes = counters.pinnedBytes();
  }
}
