package org.hghca.tools.bringup.command;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.hghca.programs.ReportFile;

/**
 * A file of lines, each of which is on the disk when it has been written. When one cannot be
 * written, it says why, and the rest goes nowhere. Not thread-safe.
 */
final class LineFile implements AutoCloseable {
  private final ReportFile<String> file;
  private final PrintWriter out;
  private final PrintWriter err;
  private OutputStream stream;
  private boolean whole = true;

  /**
   * A file that is not open.
   *
   * @param name of the file; {@code -} is standard output
   */
  LineFile(String name, PrintWriter out, PrintWriter err) {
    this.file = new ReportFile<>(name, text -> text);
    this.out = out;
    this.err = err;
  }

  boolean isStdout() {
    return file.isStdout();
  }

  /**
   * Makes the file, or empties it.
   *
   * @throws UncheckedIOException saying why it cannot be written
   */
  void open() {
    file.check();
    if (isStdout()) {
      return;
    }
    try {
      stream =
          Files.newOutputStream(
              Path.of(file.name()),
              StandardOpenOption.CREATE,
              StandardOpenOption.TRUNCATE_EXISTING,
              StandardOpenOption.WRITE,
              StandardOpenOption.DSYNC);
    } catch (IOException e) {
      throw file.cannot(e);
    }
  }

  /**
   * Writes a line.
   *
   * @param line without its end
   */
  void write(String line) {
    if (isStdout()) {
      out.println(line);
      out.flush();
      return;
    }
    whole = whole && ReportFile.tries(err, () -> append(line + "\n"));
  }

  private void append(String text) {
    try {
      stream.write(text.getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw file.cannot(e);
    }
  }

  /** Whether all lines are there. */
  boolean isWhole() {
    return whole;
  }

  @Override
  public void close() {
    try {
      if (stream != null) {
        stream.close();
      }
    } catch (IOException e) {
      // Each line was on the disk when it was written.
    }
  }
}
