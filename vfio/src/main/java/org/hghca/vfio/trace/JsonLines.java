package org.hghca.vfio.trace;

import java.io.BufferedWriter;
import java.io.IOException;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import org.hghca.vfio.trace.DeviceTrace.Recorded;

/**
 * A trace as JSON lines: first a line that begins with {@code trace}, the number of the format; a
 * line of each device with the number of lost records; then the events of all devices by time.
 *
 * @param started when the trace was
 * @param startedNanos the same in the time of the records
 */
record JsonLines(Instant started, long startedNanos) {
  private static final int FORMAT = 1;

  private record Event(String device, TraceRecord record) {}

  void write(List<Recorded> devices, BufferedWriter out) throws IOException {
    line(out, head());
    for (Recorded device : devices) {
      line(
          out,
          new JsonObject()
              .put("device", device.device())
              .put("events", device.records().size())
              .put("lost_control", device.controlLost())
              .put("lost_data", device.dataLost()));
    }
    List<Event> events =
        devices.stream()
            .<Event>mapMulti(
                (device, to) ->
                    device.records().forEach(r -> to.accept(new Event(device.device(), r))))
            .sorted(Comparator.comparingLong(event -> event.record().begin()))
            .toList();
    for (Event event : events) {
      line(out, object(event.device(), event.record()));
    }
  }

  /** The first line of a trace. */
  JsonObject head() {
    return new JsonObject().put("trace", FORMAT).put("started", started);
  }

  /**
   * The beginning of a line.
   *
   * @param nanos in the time of {@link System#nanoTime}
   */
  JsonObject begin(long nanos) {
    return new JsonObject().put("ns", nanos - startedNanos);
  }

  /** The line of an event. */
  JsonObject object(String device, TraceRecord record) {
    TraceText text = record.text();
    JsonObject line = begin(record.begin());
    if (record.isSpan()) {
      line.put("took_ns", record.end() - record.begin());
    }
    return line.put("device", device)
        .put("kind", record.kind().name())
        .put("track", text.track())
        .put("title", text.title())
        .putAll(text.values());
  }

  static void line(BufferedWriter out, JsonObject object) throws IOException {
    out.write(object.toString());
    out.write('\n');
  }
}
