package org.hghca.vfio.trace;

import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The file of a whole trace, JSON lines that are written as they come. Its last line has {@code
 * end}, the number of the lines before it; a file without it is cut. Thread-safe.
 */
final class LiveFile {
  private final JsonLines format;
  private final BufferedWriter out;
  private long lines;
  private IOException failure;
  private boolean ended;

  /** Creates the file, or empties it. */
  LiveFile(Path path, JsonLines format) throws IOException {
    this.format = format;
    this.out = Files.newBufferedWriter(path);
    write(format.head().put("full", 1));
  }

  /** How its events are written. */
  JsonLines format() {
    return format;
  }

  /** Writes a line; does nothing after the end, or once the file could not be written. */
  synchronized void write(JsonObject line) {
    if (ended || failure != null) {
      return;
    }
    try {
      JsonLines.line(out, line);
      lines++;
    } catch (IOException e) {
      failure = e;
    }
  }

  /**
   * Writes the end and closes the file.
   *
   * @return number of lines before the end
   * @throws IOException when the file is not whole
   */
  synchronized long end() throws IOException {
    write(new JsonObject().put("end", lines));
    ended = true;
    try {
      out.close();
    } catch (IOException e) {
      failure = failure == null ? e : failure;
    }
    if (failure != null) {
      throw failure;
    }
    return lines - 1;
  }
}
