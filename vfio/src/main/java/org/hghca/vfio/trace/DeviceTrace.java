package org.hghca.vfio.trace;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * What is recorded of one device. A record takes some 40 ns and allocates nothing; the newest
 * {@value #CONTROL} records of the control path are kept, and the newest {@value #DATA} of the data
 * path. Thread-safe.
 *
 * <p>A layer asks for it once, and keeps null for a device that is not traced: one check of a final
 * field is all that the data path then does.
 */
public final class DeviceTrace {
  static final int CONTROL = 1 << 14;
  static final int DATA = 1 << 17;

  private final String device;
  private final TraceRing control = new TraceRing(CONTROL);
  private final TraceRing data = new TraceRing(DATA);

  DeviceTrace(String device) {
    this.device = device;
  }

  /** Records an event that was seen now; the numbers mean what the kind says. */
  public void record(TraceKind kind, long first, long second, long third, long fourth) {
    ring(kind)
        .write(kind.number(), System.nanoTime(), TraceRecord.INSTANT, first, second, third, fourth);
  }

  /**
   * Records what has ended now.
   *
   * @param begin in the time of {@link System#nanoTime}
   */
  public void span(TraceKind kind, long begin, long first, long second, long third, long fourth) {
    ring(kind).write(kind.number(), begin, System.nanoTime(), first, second, third, fourth);
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
