package org.hghca.virtio;

import org.hghca.vfio.trace.DeviceTrace;
import org.hghca.vfio.trace.TraceKind;
import org.hghca.vfio.trace.TraceText;

/** What a trace has of a virtqueue: notifications, and chains that the device has used. */
final class QueueRecord {
  private static final TraceKind NOTIFICATION =
      TraceKind.data(
          "notification", r -> TraceText.of(track(r.first()), "notify").with("queue", r.first()));

  private static final TraceKind USED =
      TraceKind.data(
          "used",
          r ->
              TraceText.of(track(r.first()), "used")
                  .with("queue", r.first())
                  .with("id", r.second())
                  .with("length", r.third()));

  private QueueRecord() {}

  private static String track(long queue) {
    return "queue " + queue;
  }

  /** Records a notification that is about to be written. */
  static void notification(DeviceTrace trace, int queue) {
    trace.record(NOTIFICATION, queue, 0, 0, 0);
  }

  /** Records an entry of a used ring. */
  static void used(DeviceTrace trace, int queue, int id, int length) {
    trace.record(USED, queue, id, Integer.toUnsignedLong(length), 0);
  }
}
