package org.hghca.tools;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Pattern;

/** The standard output or error of the process, which records why writing failed. */
final class StandardOutput extends PrintWriter {
  private static final Pattern TERMINAL = Pattern.compile("/dev/(pts/\\d+|tty.*|console)");

  private final Stream stream;
  private final Path link;

  private StandardOutput(Stream stream, Path link, Charset charset) {
    super(stream, true, charset);
    this.stream = stream;
    this.link = link;
  }

  /**
   * Of this process.
   *
   * @param descriptor {@link FileDescriptor#out} or {@link FileDescriptor#err}
   */
  static StandardOutput of(FileDescriptor descriptor, Charset charset) {
    int number = descriptor == FileDescriptor.out ? 1 : 2;
    return new StandardOutput(
        new Stream(new FileOutputStream(descriptor)), Path.of("/proc/self/fd/" + number), charset);
  }

  /** Whether somebody sees it, as it is no file and no pipe. */
  boolean isTerminal() {
    try {
      return TERMINAL.matcher(Files.readSymbolicLink(link).toString()).matches();
    } catch (IOException e) {
      return false;
    }
  }

  /** The reason of the first failed write, as the system reports it. */
  Optional<String> failure() {
    return Optional.ofNullable(stream.failure).map(IOException::getMessage);
  }

  private static final class Stream extends FilterOutputStream {
    private IOException failure;

    Stream(OutputStream out) {
      super(out);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
      try {
        out.write(bytes, offset, length);
      } catch (IOException e) {
        failure = failure == null ? e : failure;
        throw e;
      }
    }
  }
}
