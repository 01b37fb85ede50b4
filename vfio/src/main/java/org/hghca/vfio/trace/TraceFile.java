package org.hghca.vfio.trace;

import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.hghca.log.About;
import org.hghca.log.ConditionLog;

/**
 * A file with the trace of one or more devices, from when it is opened until nobody uses it any
 * more: then it is written. Devices that name the same file, at the same time or while somebody
 * else has it open, share it; one that is opened again goes on in its own memory. The end of the
 * process writes what is open, unless it is killed.
 *
 * <p>A name that ends with {@code .jsonl} gives one JSON object a line, any other one the Trace
 * Event format, which ui.perfetto.dev opens. With {@code ,full} behind the name the trace is whole:
 * it also has what a replay needs, as {@link Recording} says, and is written as it goes, one JSON
 * object a line whatever the name. Thread-safe.
 */
public final class TraceFile implements AutoCloseable {
  private static final ConditionLog LOG = ConditionLog.of(TraceFile.class);
  private static final String LINES = ".jsonl";

  /** Behind the name of a file whose trace is to be whole. */
  private static final String FULL = ",full";

  private static final Map<Path, TraceFile> OPEN = new HashMap<>();

  /** Whether the end of the process writes what is open; registered with the first file. */
  private static boolean hooked;

  private final Path path;
  private final JsonLines format = new JsonLines(Instant.now(), System.nanoTime());

  /** Null unless the trace is to be whole: then each line is written as it comes. */
  private final LiveFile live;

  private final Map<String, DeviceTrace> devices = new LinkedHashMap<>();
  private int users;
  private boolean written;

  private TraceFile(Path path, boolean full) throws IOException {
    this.path = path;
    this.live = full ? new LiveFile(path, format) : null;
  }

  /**
   * Opens a file, or one more use of it.
   *
   * @throws UncheckedIOException saying why it cannot be written
   */
  public static TraceFile open(String name) {
    synchronized (OPEN) {
      Path path = path(name);
      TraceFile file = OPEN.get(path);
      if (file != null && name.endsWith(FULL) != (file.live != null)) {
        throw invalid("the trace %s is open already, and only one of the two is full", path);
      }
      if (file == null) {
        check(path);
        if (!hooked) {
          Runtime.getRuntime().addShutdownHook(new Thread(TraceFile::writeAll, "trace files"));
          hooked = true;
        }
        file = create(path, name.endsWith(FULL));
        OPEN.put(path, file);
      }
      file.users++;
      return file;
    }
  }

  /**
   * The trace of a device, while a file is open.
   *
   * @param device its name in the file
   */
  public static Optional<DeviceTrace> device(String name, String device) {
    synchronized (OPEN) {
      return Optional.ofNullable(OPEN.get(path(name)))
          .map(file -> file.devices.computeIfAbsent(device, file::trace));
    }
  }

  private DeviceTrace trace(String device) {
    return live == null ? new DeviceTrace(device) : new DeviceTrace(device, live);
  }

  private static TraceFile create(Path path, boolean full) {
    try {
      return new TraceFile(path, full);
    } catch (IOException e) {
      throw cannot(path, e);
    }
  }

  private static Path path(String name) {
    String file = name.endsWith(FULL) ? name.substring(0, name.length() - FULL.length()) : name;
    try {
      if (!file.isEmpty()) {
        return Path.of(file).toAbsolutePath().normalize();
      }
    } catch (InvalidPathException e) {
      // Told below.
    }
    throw invalid("the trace '%s' is not the name of a file", name);
  }

  private static UncheckedIOException invalid(String format, Object name) {
    String message = format.formatted(name);
    return new UncheckedIOException(message, new IOException(message));
  }

  /** Opens the file and closes it: whoever cannot write it learns that before the work. */
  private static void check(Path path) {
    try {
      Files.newByteChannel(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE).close();
    } catch (IOException e) {
      throw cannot(path, e);
    }
  }

  private static UncheckedIOException cannot(Path path, IOException e) {
    String why =
        switch (e) {
          case NoSuchFileException _ -> "there is no folder " + path.getParent();
          case FileSystemException f when f.getReason() != null -> f.getReason();
          default -> e.getMessage() == null ? e.toString() : e.getMessage();
        };
    return new UncheckedIOException("the trace %s cannot be written: %s".formatted(path, why), e);
  }

  /**
   * Writes what is recorded so far, and records no more, whoever else uses the file. Writing twice
   * does nothing.
   *
   * @return what was written, in words
   * @throws UncheckedIOException saying why it could not be written
   */
  public String write() {
    synchronized (OPEN) {
      OPEN.remove(path, this);
      if (written) {
        return "";
      }
      written = true;
      if (live != null) {
        return end();
      }
      List<DeviceTrace.Recorded> recorded =
          devices.values().stream().map(DeviceTrace::read).toList();
      try (BufferedWriter out = Files.newBufferedWriter(path)) {
        if (path.toString().endsWith(LINES)) {
          format.write(recorded, out);
        } else {
          new TraceEvents(format.started(), format.startedNanos()).write(recorded, out);
        }
      } catch (IOException e) {
        throw cannot(path, e);
      }
      return summary(recorded);
    }
  }

  private String end() {
    try {
      return "%d lines".formatted(live.end());
    } catch (IOException e) {
      throw cannot(path, e);
    }
  }

  private static String summary(List<DeviceTrace.Recorded> recorded) {
    long events = recorded.stream().mapToLong(device -> device.records().size()).sum();
    long lost =
        recorded.stream().mapToLong(device -> device.controlLost() + device.dataLost()).sum();
    return "%d events%s"
        .formatted(events, lost == 0 ? "" : ", and %d older ones are lost".formatted(lost));
  }

  /** Writes every file that is open; on return none is half written. For the end of the process. */
  public static void writeAll() {
    synchronized (OPEN) {
      List.copyOf(OPEN.values()).forEach(TraceFile::tryToWrite);
    }
  }

  private void tryToWrite() {
    try {
      String _ = write();
    } catch (UncheckedIOException e) {
      LOG.error(About.NOTHING, "a trace is not written: {}", e.getMessage());
    }
  }

  /** Ends one use; the last one writes the file, and logs why if it cannot. */
  @Override
  public void close() {
    synchronized (OPEN) {
      users--;
      if (users == 0) {
        tryToWrite();
      }
    }
  }
}
