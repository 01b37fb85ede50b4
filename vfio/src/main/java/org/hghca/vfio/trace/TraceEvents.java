package org.hghca.vfio.trace;

import java.io.BufferedWriter;
import java.io.IOException;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedSet;
import java.util.TreeSet;
import org.hghca.vfio.trace.DeviceTrace.Recorded;

/**
 * A trace in the Trace Event format of Chrome, as JSON: a device is a process, each of its tracks a
 * thread, an event a complete or an instant event with its values as arguments.
 *
 * @param started when the trace was
 * @param startedNanos the same in the time of the records
 */
record TraceEvents(Instant started, long startedNanos) {

  /** First the tracks that a device has one of; then its queues, QP 0x10 after QP 0xf. */
  private static final Comparator<String> BY_NAME =
      Comparator.comparing((String track) -> track.contains(" "))
          .thenComparing(track -> track.replaceFirst(" .*", ""))
          .thenComparingInt(String::length)
          .thenComparing(Comparator.naturalOrder());

  void write(List<Recorded> devices, BufferedWriter out) throws IOException {
    JsonObject other = new JsonObject().put("started", started);
    for (Recorded device : devices) {
      other.put(device.device() + " lost_control", device.controlLost());
      other.put(device.device() + " lost_data", device.dataLost());
    }
    out.write("{\"displayTimeUnit\":\"ns\",\"otherData\":" + other + ",\"traceEvents\":[\n");
    String separator = "";
    for (int i = 0; i < devices.size(); i++) {
      separator = device(i + 1, devices.get(i), separator, out);
    }
    out.write("\n]}\n");
  }

  private String device(int pid, Recorded device, String before, BufferedWriter out)
      throws IOException {
    String separator = before;
    Map<String, Integer> tracks = tracks(device.records());
    separator = line(out, separator, name("process_name", pid, 0, device.device()));
    for (Map.Entry<String, Integer> track : tracks.entrySet()) {
      int tid = track.getValue();
      separator = line(out, separator, name("thread_name", pid, tid, track.getKey()));
      JsonObject order =
          event("thread_sort_index", "M", pid, tid)
              .put("args", new JsonObject().put("sort_index", tid));
      separator = line(out, separator, order);
    }
    for (TraceRecord record : device.records()) {
      separator = line(out, separator, event(pid, tracks, record));
    }
    return separator;
  }

  /** The threads of a device by name. */
  private static Map<String, Integer> tracks(List<TraceRecord> records) {
    SequencedSet<String> names = new TreeSet<>(BY_NAME);
    records.forEach(record -> names.add(record.text().track()));
    Map<String, Integer> tracks = new HashMap<>();
    names.forEach(name -> tracks.put(name, tracks.size() + 1));
    return tracks;
  }

  private static JsonObject name(String what, int pid, int tid, String name) {
    return event(what, "M", pid, tid).put("args", new JsonObject().put("name", name));
  }

  private JsonObject event(int pid, Map<String, Integer> tracks, TraceRecord record) {
    TraceText text = record.text();
    JsonObject event =
        event(text.title(), record.isSpan() ? "X" : "i", pid, tracks.get(text.track()))
            .put("cat", record.kind().name())
            .putThousandths("ts", record.begin() - startedNanos);
    if (record.isSpan()) {
      event.putThousandths("dur", record.end() - record.begin());
    } else {
      event.put("s", "t");
    }
    return event.put("args", new JsonObject().putAll(text.values()));
  }

  private static JsonObject event(String title, String phase, int pid, int tid) {
    return new JsonObject().put("name", title).put("ph", phase).put("pid", pid).put("tid", tid);
  }

  private static String line(BufferedWriter out, String separator, JsonObject object)
      throws IOException {
    out.write(separator);
    out.write(object.toString());
    return ",\n";
  }
}
