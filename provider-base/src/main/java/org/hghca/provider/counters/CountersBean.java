package org.hghca.provider.counters;

import java.lang.management.ManagementFactory;
import java.util.function.Supplier;
import javax.management.JMException;
import javax.management.ObjectName;
import org.hghca.verbs.Counters;

/** The counters of one context as a bean, from its registration to its closing. */
final class CountersBean implements CountersMXBean {
  private final ObjectName name;
  private final Supplier<Counters> counters;

  private CountersBean(ObjectName name, Supplier<Counters> counters) {
    this.name = name;
    this.counters = counters;
  }

  static CountersBean register(String device, long context, Supplier<Counters> counters) {
    try {
      ObjectName name =
          new ObjectName(
              "org.hghca:type=Counters,device=%s,context=%d"
                  .formatted(ObjectName.quote(device), context));
      CountersBean bean = new CountersBean(name, counters);
      ManagementFactory.getPlatformMBeanServer().registerMBean(bean, name);
      return bean;
    } catch (JMException e) {
      throw new IllegalStateException("cannot register the counters of " + device, e);
    }
  }

  void unregister() {
    try {
      ManagementFactory.getPlatformMBeanServer().unregisterMBean(name);
    } catch (JMException e) {
      throw new IllegalStateException("cannot unregister " + name, e);
    }
  }

  @Override
  public long getSendsPosted() {
    return counters.get().sendsPosted();
  }

  @Override
  public long getReceivesPosted() {
    return counters.get().receivesPosted();
  }

  @Override
  public long getDoorbells() {
    return counters.get().doorbells();
  }

  @Override
  public long getCompletions() {
    return counters.get().completions();
  }

  @Override
  public long getFailures() {
    return counters.get().failures();
  }

  @Override
  public long getFlushed() {
    return counters.get().flushed();
  }

  @Override
  public long getRetriesExceeded() {
    return counters.get().retriesExceeded();
  }

  @Override
  public long getRnrRetriesExceeded() {
    return counters.get().rnrRetriesExceeded();
  }

  @Override
  public long getNaks() {
    return counters.get().naks();
  }

  @Override
  public long getCompletionEvents() {
    return counters.get().completionEvents();
  }

  @Override
  public long getMissedEvents() {
    return counters.get().missedEvents();
  }

  @Override
  public long getAsyncEvents() {
    return counters.get().asyncEvents();
  }

  @Override
  public long getCommands() {
    return counters.get().commands();
  }

  @Override
  public long getDmaFaults() {
    return counters.get().dmaFaults();
  }

  @Override
  public long getSentBytes() {
    return counters.get().sentBytes();
  }

  @Override
  public long getReadBytes() {
    return counters.get().readBytes();
  }

  @Override
  public long getReceivedBytes() {
    return counters.get().receivedBytes();
  }

  @Override
  public long getConnectionsMade() {
    return counters.get().connectionsMade();
  }

  @Override
  public long getConnections() {
    return counters.get().connections();
  }

  @Override
  public long getQueuePairs() {
    return counters.get().queuePairs();
  }

  @Override
  public long getMemoryRegions() {
    return counters.get().memoryRegions();
  }

  @Override
  public long getRegisteredBytes() {
    return counters.get().registeredBytes();
  }

  @Override
  public long getPinnedBytes() {
    return counters.get().pinnedBytes();
  }
}
