package org.hghca.programs;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.function.Function;

/**
 * The destination of one form of a report.
 *
 * @param <T> the report
 * @param name of the file; {@code -} is standard output
 * @param form the report as the text of the file
 */
public record ReportFile<T>(String name, Function<T, String> form) {
  private static final String STDOUT = "-";

  public boolean isStdout() {
    return name.equals(STDOUT);
  }

  /**
   * Checks that the file can be written, before minutes are spent on its content. Existing content
   * is kept; a missing file is not created.
   *
   * @throws UncheckedIOException saying why it cannot be written
   */
  public void check() {
    if (isStdout()) {
      return;
    }
    Path file = Path.of(name);
    Path folder = file.toAbsolutePath().getParent();
    if (Files.isDirectory(file)) {
      throw cannot(new IOException("it is a folder"));
    }
    if (!Files.exists(file) && !Files.isWritable(folder)) {
      boolean there = Files.isDirectory(folder);
      throw cannot(
          new IOException(
              "%s %s".formatted(folder, there ? "cannot be written to" : "is not a folder")));
    }
    try {
      Files.newByteChannel(file, StandardOpenOption.WRITE).close();
    } catch (NoSuchFileException e) {
      // It will be made.
    } catch (IOException e) {
      throw cannot(e);
    }
  }

  /**
   * Writes.
   *
   * @throws UncheckedIOException saying why it cannot be written
   */
  public void write(T report, PrintWriter out) {
    String text = form.apply(report);
    if (isStdout()) {
      out.println(text);
      return;
    }
    try {
      Files.writeString(Path.of(name), text, StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw cannot(e);
    }
  }

  /** Checks or writes files; returns false, and says why, when one cannot be written. */
  public static boolean tries(PrintWriter err, Runnable output) {
    try {
      output.run();
      return true;
    } catch (UncheckedIOException e) {
      err.println("hghca: " + e.getMessage());
      return false;
    }
  }

  /** That it cannot be written, and why. */
  public UncheckedIOException cannot(IOException e) {
    return new UncheckedIOException(
        "%s cannot be written: %s: name another file".formatted(name, FileFailure.why(e)), e);
  }
}
