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
    line(out, new JsonObject().put("trace", FORMAT).put("started", started));
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
      line(out, object(event));
    }
  }

  private JsonObject object(Event event) {
    TraceRecord record = event.record();
    TraceText text = record.text();
    JsonObject line = new JsonObject().put("ns", record.begin() - startedNanos);
    if (record.isSpan()) {
      line.put("took_ns", record.end() - record.begin());
    }
    return line.put("device", event.device())
        .put("kind", record.kind().name())
        .put("track", text.track())
        .put("title", text.title())
        .putAll(text.values());
  }

  private static void line(BufferedWriter out, JsonObject object) throws IOException {
    out.write(object.toString());
    out.write('\n');
  }
}
