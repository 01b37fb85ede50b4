package org.hghca.vfio.trace;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;

/**
 * A kind of event. The layer that records it defines it once, as a constant, and explains its
 * records when they are written. Thread-safe.
 */
public final class TraceKind {
  private static final List<TraceKind> ALL = new CopyOnWriteArrayList<>();

  private final String name;
  private final boolean control;
  private final Function<TraceRecord, TraceText> text;
  private final int number;

  private TraceKind(String name, boolean control, Function<TraceRecord, TraceText> text) {
    this.name = name;
    this.control = control;
    this.text = text;
    synchronized (ALL) {
      number = ALL.size();
      ALL.add(this);
    }
  }

  /**
   * A kind of events off the data path, such as commands. Those of the data path displace none of
   * them.
   *
   * @param name as the output has it
   * @param text explains a record
   */
  public static TraceKind control(String name, Function<TraceRecord, TraceText> text) {
    return new TraceKind(name, true, text);
  }

  /** As {@link #control}, of events of the data path, such as doorbells. */
  public static TraceKind data(String name, Function<TraceRecord, TraceText> text) {
    return new TraceKind(name, false, text);
  }

  static TraceKind of(int number) {
    return ALL.get(number);
  }

  String name() {
    return name;
  }

  int number() {
    return number;
  }

  boolean isControl() {
    return control;
  }

  TraceText text(TraceRecord record) {
    return text.apply(record);
  }
}
