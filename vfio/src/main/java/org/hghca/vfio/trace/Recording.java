package org.hghca.vfio.trace;

import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * The whole of what a program and one device exchange, in the order in which the program sees it:
 * each store to a register, each load that reads another value than the one before, the mappings,
 * and before each of these and each event of the trace what has changed in the memory that the
 * device can access, whoever changed it. Thread-safe; its cost is that of a look at all this memory
 * for each line.
 */
public final class Recording {
  private final LiveFile file;
  private final String device;
  private final Map<Integer, RecordedMemory> memory = new LinkedHashMap<>();
  private final Map<String, Long> loaded = new HashMap<>();
  private int mappings;

  Recording(LiveFile file, String device) {
    this.file = file;
    this.device = device;
  }

  /**
   * The function was opened.
   *
   * @param mac of its port, as a locator has it
   * @param ip the same of its IP addresses
   */
  public synchronized void opened(int vendor, int id, String mac, String ip) {
    file.write(
        line("open")
            .put("vendor", TraceText.hex(vendor))
            .put("device_id", TraceText.hex(id))
            .put("mac", mac)
            .put("ip", ip));
  }

  /** The function is closed now, and with it all mappings. */
  public synchronized void closed() {
    look();
    memory.clear();
    loaded.clear();
    file.write(line("close"));
  }

  /** The function is reset now. */
  public synchronized void reset() {
    look();
    loaded.clear();
    file.write(line("reset-function"));
  }

  /**
   * Memory was mapped.
   *
   * @param allocated whether the function has allocated it
   * @param pieces its bus addresses, as in {@code 0x1000+4096 0x9000+8192}
   * @return the number of the mapping in the trace
   */
  public synchronized int mapped(
      MemorySegment segment, boolean allocated, String access, String pieces) {
    int number = mappings++;
    memory.put(number, new RecordedMemory(segment));
    file.write(
        line("map")
            .put("map", number)
            .put("bytes", segment.byteSize())
            .put("allocated", allocated ? 1 : 0)
            .put("access", access)
            .put("iova", pieces));
    return number;
  }

  /** A mapping is closed now. */
  public synchronized void unmapped(int number) {
    if (memory.remove(number) != null) {
      file.write(line("unmap").put("map", number));
    }
  }

  /** Records a write to configuration space, and makes it. */
  public synchronized void configured(int offset, int width, int value, Runnable access) {
    file.write(register("config", TraceText.hex(offset), width, Integer.toUnsignedLong(value)));
    access.run();
  }

  /** Records a store to a register, and makes it. */
  public synchronized void store(int bar, long offset, int width, long value, Runnable access) {
    look();
    loaded.put(place(bar, offset), value);
    file.write(register("store", place(bar, offset), width, value));
    access.run();
  }

  /** Makes a load from a register, and records it if it gives what the last one did not. */
  public long load(int bar, long offset, int width, LongSupplier access) {
    long value = access.getAsLong();
    synchronized (this) {
      Long before = loaded.put(place(bar, offset), value);
      if (before == null || before != value) {
        look();
        file.write(register("load", place(bar, offset), width, value));
      }
    }
    return value;
  }

  /** A register, such as {@code 2+0x1000}. */
  private static String place(int bar, long offset) {
    return bar + "+" + TraceText.hex(offset);
  }

  private JsonObject register(String kind, String place, int width, long value) {
    return line(kind).put("at", place).put("width", width).put("value", TraceText.hex(value));
  }

  /** An event of the trace has come. */
  synchronized void event(TraceRecord record) {
    look();
    file.write(file.format().object(device, record));
  }

  private void look() {
    memory.entrySet().removeIf(each -> isLost(each.getKey(), each.getValue()));
  }

  /** Tells what has changed; memory that cannot be read any more is said to be lost. */
  private boolean isLost(int mapping, RecordedMemory of) {
    try {
      of.look((offset, bytes) -> changed(mapping, offset, bytes));
      return false;
    } catch (IllegalStateException | WrongThreadException e) {
      file.write(line("lost").put("map", mapping).put("why", e.getMessage()));
      return true;
    }
  }

  private void changed(int mapping, long offset, byte[] bytes) {
    file.write(
        line("memory")
            .put("map", mapping)
            .put("offset", offset)
            .put("bytes", HexFormat.of().formatHex(bytes)));
  }

  private JsonObject line(String kind) {
    return file.format().begin(System.nanoTime()).put("device", device).put("kind", kind);
  }
}
