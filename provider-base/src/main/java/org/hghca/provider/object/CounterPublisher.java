package org.hghca.provider.object;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.hghca.provider.snapshot.OpenSnapshots;
import org.hghca.provider.snapshot.Snapshot;
import org.hghca.provider.snapshot.Snapshot.Program;
import org.hghca.provider.snapshot.SnapshotDirectory;
import org.hghca.provider.snapshot.SnapshotEncoder;
import org.hghca.provider.snapshot.SnapshotFile;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

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

  private static final Logger LOG = LoggerFactory.getLogger(CounterPublisher.class);
  private static final long PERIOD_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  private final AbstractDevice device;
  private final Supplier<Snapshot> now = this::now;

  // Of the thread of events.
  private long last = System.nanoTime(); // the first one comes later: many programs are short
  private boolean isOff = "off".equals(System.getProperty(PROPERTY));
  private DeviceRows rows;
  private SnapshotFile file;

  CounterPublisher(AbstractDevice device) {
    this.device = device;
  }

  /** The device is open. */
  void open() {
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
      LOG.debug("{}: its counters are not published: {}", locator(), e.getMessage());
      removeFile();
    }
  }

  private void publish() throws IOException {
    if (rows == null) {
      rows = new DeviceRows(device, encoder());
    }
    ByteBuffer snapshot = rows.encode();
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
    String name =
        device.contexts().stream()
            .findFirst()
            .map(context -> context.device().name())
            .orElse(locator());
    return new SnapshotEncoder(program(), name, locator());
  }

  private String locator() {
    return device.function().locator().toString();
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
      return Snapshot.of(new DeviceRows(device, encoder()).encode());
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
      LOG.debug("{}: the file of its counters is not removed: {}", locator(), e.getMessage());
    }
    file = null;
  }

  /** The device is closing: readers in this process do not ask for it any more. */
  void closing() {
    OpenSnapshots.remove(now);
  }

  /** The thread of events has ended. */
  void close() {
    removeFile();
  }
}
