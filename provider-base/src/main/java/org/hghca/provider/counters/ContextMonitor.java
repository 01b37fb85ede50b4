package org.hghca.provider.counters;

import java.util.LinkedHashSet;
import java.util.Set;
import java.util.function.Supplier;
import jdk.jfr.FlightRecorder;
import jdk.jfr.FlightRecorderListener;
import org.hghca.verbs.Counters;

/**
 * The counters of one context, as Flight Recorder and, if enabled, JMX show them while it is open.
 * Thread-safe. The lock of all is taken before that of {@link ContextCounters}.
 */
public final class ContextMonitor {
  /** Loading JMX takes longer than opening a device: it is only loaded on request. */
  private static final String JMX = "hghca.jmx";

  private static final Set<ContextMonitor> OPEN = new LinkedHashSet<>();
  private static long opened;

  static {
    if (FlightRecorder.isAvailable()) {
      FlightRecorder.addListener(new WhenRecorderStarts());
    }
  }

  private final String device;
  private final long context;
  private final Supplier<Counters> counters;
  private final CountersBean bean;

  private ContextMonitor(String device, long context, Supplier<Counters> counters) {
    this.device = device;
    this.context = context;
    this.counters = counters;
    this.bean = Boolean.getBoolean(JMX) ? CountersBean.register(device, context, counters) : null;
  }

  /**
   * A context is open.
   *
   * @param counters may be called by any thread until {@link #close}
   */
  public static ContextMonitor open(String device, Supplier<Counters> counters) {
    synchronized (OPEN) {
      opened++;
      ContextMonitor monitor = new ContextMonitor(device, opened, counters);
      OPEN.add(monitor);
      return monitor;
    }
  }

  /** The number of the context in this process, in the order of opening. */
  public long number() {
    return context;
  }

  /** The context is closing: afterwards Flight Recorder does not ask for its counters any more. */
  public void close() {
    if (bean != null) {
      bean.unregister();
    }
    synchronized (OPEN) {
      OPEN.remove(this);
    }
  }

  /** Loading Flight Recorder, too, takes longer than opening a device: its user starts it. */
  private static final class WhenRecorderStarts implements FlightRecorderListener {
    @Override
    public void recorderInitialized(FlightRecorder recorder) {
      FlightRecorder.addPeriodicEvent(CountersEvent.class, ContextMonitor::record);
    }
  }

  private static void record() {
    synchronized (OPEN) {
      for (ContextMonitor monitor : OPEN) {
        new CountersEvent(monitor.device, monitor.context, monitor.counters.get()).commit();
      }
    }
  }
}
