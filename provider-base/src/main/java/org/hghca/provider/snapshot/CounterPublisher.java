package org.hghca.provider.snapshot;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.hghca.log.About;
import org.hghca.log.ConditionLog;
import org.hghca.provider.snapshot.Snapshot.Program;
import org.hghca.vfio.Locator;

/**
 * Copies the counters of a device into a file that other processes of the user read, twice a
 * second, on the thread of the device's events; and for readers in this process on demand. Where
 * the file cannot be there is none, and nothing else changes.
 */
public final class CounterPublisher {
  /** {@code off} publishes nothing. */
  private static final String PROPERTY = "hghca.counters";

  /** What the program is called for others; otherwise what its JVM runs. */
  private static final String PROGRAM = "hghca.program";

  private static final ConditionLog LOG = ConditionLog.of(CounterPublisher.class);
  private static final long PERIOD_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  private final Device device;
  private final Supplier<Snapshot> now = this::now;

  // Of the thread of events.
  private long last = System.nanoTime(); // the first one comes later: many programs are short
  private boolean isOff = "off".equals(System.getProperty(PROPERTY));
  private SnapshotEncoder encoder;
  private DeviceRows rows;
  private SnapshotFile file;

  /** What has counters. */
  public interface Device {
    /** What users call it. */
    String name();

    Locator locator();

    /** What is open, by any thread. */
    List<Published> things();

    /** What its port and its link count, by name, by any thread. */
    Map<String, Long> ports();
  }

  public CounterPublisher(Device device) {
    this.device = device;
  }

  /** The device is open. */
  public void open() {
    OpenSnapshots.add(now);
  }

  /** Publishes, if it is time to. By the thread of events, under no lock. */
  public void tick() {
    long time = System.nanoTime();
    if (isOff || time - last < PERIOD_NANOS) {
      return;
    }
    last = time;
    try {
      publish();
    } catch (IOException | RuntimeException e) {
      isOff = true;
      LOG.debug(
          About.device(device.locator()), "its counters are not published: {}", e.getMessage());
      removeFile();
    }
  }

  private void publish() throws IOException {
    if (encoder == null) {
      encoder = encoder();
      rows = new DeviceRows(encoder);
    }
    ByteBuffer snapshot = encode(encoder, rows);
    if (file != null && Files.exists(file.path())) {
      file.write(snapshot);
      return;
    }
    removeFile(); // somebody else did, perhaps
    file =
        SnapshotFile.create(
            SnapshotDirectory.ofUser().path(), ProcessHandle.current().pid(), snapshot);
  }

  private SnapshotEncoder encoder() {
    return new SnapshotEncoder(program(), device.name(), device.locator().toString());
  }

  private ByteBuffer encode(SnapshotEncoder into, DeviceRows rowsOf) {
    into.begin();
    rowsOf.write(device.things());
    into.ports(device.ports());
    return into.end(System.currentTimeMillis());
  }

  private static Program program() {
    ProcessHandle self = ProcessHandle.current();
    long start = self.info().startInstant().map(Instant::toEpochMilli).orElse(0L);
    return new Program(self.pid(), start, programName());
  }

  /** What this JVM runs: the last part of the name of a class, module or archive. */
  private static String programName() {
    String given = System.getProperty(PROGRAM, "");
    if (!given.isEmpty()) {
      return given;
    }
    String command = System.getProperty("sun.java.command", "java").split(" ", 2)[0];
    String file = command.substring(command.lastIndexOf('/') + 1);
    return file.endsWith(".jar") ? file : file.substring(file.lastIndexOf('.') + 1);
  }

  private Snapshot now() {
    try {
      SnapshotEncoder once = encoder();
      return Snapshot.of(encode(once, new DeviceRows(once)));
    } catch (IOException e) {
      throw new UncheckedIOException(e); // it was encoded here
    }
  }

  private void removeFile() {
    if (file == null) {
      return;
    }
    try {
      file.close();
    } catch (IOException e) {
      LOG.debug(
          About.device(device.locator()),
          "the file of its counters is not removed: {}",
          e.getMessage());
    }
    file = null;
  }

  /** The device is closing: readers in this process do not ask for it any more. */
  public void closing() {
    OpenSnapshots.remove(now);
  }

  /** The thread of events has ended. */
  public void close() {
    removeFile();
  }
}
