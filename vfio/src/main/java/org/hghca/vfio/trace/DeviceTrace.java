package org.hghca.vfio.trace;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * What is recorded of one device. A record takes some 40 ns and allocates nothing; the newest
 * {@value #CONTROL} records of the control path are kept, and the newest {@value #DATA} of the data
 * path. Thread-safe.
 *
 * <p>A layer asks for it once, and keeps null for a device that is not traced: one check of a final
 * field is all that the data path then does.
 *
 * <p>Of a whole trace nothing is kept here: each record goes to its {@link Recording}.
 */
public final class DeviceTrace {
  static final int CONTROL = 1 << 14;
  static final int DATA = 1 << 17;

  private final String device;
  private final TraceRing control;
  private final TraceRing data;

  /** Null unless everything is recorded, as it goes; the rings are null if it is. */
  private final Recording recording;

  DeviceTrace(String device) {
    this.device = device;
    this.control = new TraceRing(CONTROL);
    this.data = new TraceRing(DATA);
    this.recording = null;
  }

  DeviceTrace(String device, LiveFile file) {
    this.device = device;
    this.control = null;
    this.data = null;
    this.recording = new Recording(file, device);
  }

  /** What takes everything that a replay needs; empty unless the trace is to be whole. */
  public Optional<Recording> recording() {
    return Optional.ofNullable(recording);
  }

  /** Records an event that was seen now; the numbers mean what the kind says. */
  public void record(TraceKind kind, long first, long second, long third, long fourth) {
    long now = System.nanoTime();
    if (recording != null) {
      recording.event(
          new TraceRecord(kind, now, TraceRecord.INSTANT, first, second, third, fourth));
      return;
    }
    ring(kind).write(kind.number(), now, TraceRecord.INSTANT, first, second, third, fourth);
  }

  /**
   * Records what has ended now.
   *
   * @param begin in the time of {@link System#nanoTime}
   */
  public void span(TraceKind kind, long begin, long first, long second, long third, long fourth) {
    long now = System.nanoTime();
    if (recording != null) {
      recording.event(new TraceRecord(kind, begin, now, first, second, third, fourth));
      return;
    }
    ring(kind).write(kind.number(), begin, now, first, second, third, fourth);
  }

  private TraceRing ring(TraceKind kind) {
    return kind.isControl() ? control : data;
  }

  /** What is recorded so far. */
  Recorded read() {
    List<TraceRecord> records = new ArrayList<>();
    long controlLost = control.read(records::add);
    long dataLost = data.read(records::add);
    records.sort(Comparator.comparingLong(TraceRecord::begin));
    return new Recorded(device, records, controlLost, dataLost);
  }

  /**
   * The records of a device, by time.
   *
   * @param device its locator without parameters
   * @param controlLost number of records of the control path that were overwritten
   * @param dataLost the same of the data path
   */
  record Recorded(String device, List<TraceRecord> records, long controlLost, long dataLost) {}
}
