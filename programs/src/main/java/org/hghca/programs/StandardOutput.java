package org.hghca.programs;

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

/**
 * The standard output or error of the process, which records why writing failed. That its reader
 * has ended, as {@code head} does, is no failure: the rest goes nowhere.
 */
public final class StandardOutput extends PrintWriter {
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
  public static StandardOutput of(FileDescriptor descriptor, Charset charset) {
    int number = descriptor == FileDescriptor.out ? 1 : 2;
    return new StandardOutput(
        new Stream(new FileOutputStream(descriptor)), Path.of("/proc/self/fd/" + number), charset);
  }

  /** Whether somebody sees it, as it is no file and no pipe. */
  public boolean isTerminal() {
    try {
      return TERMINAL.matcher(Files.readSymbolicLink(link).toString()).matches();
    } catch (IOException e) {
      return false;
    }
  }

  /**
   * Ends a thread's command when the reader ends: by a {@link ReaderEndedException} from its write,
   * or by an interrupt when another thread writes.
   */
  public void endWithReader(Thread command) {
    stream.command = command;
  }

  /** From here on, the end of the reader ends nothing. */
  public void outliveReader() {
    stream.command = null;
  }

  /** Whether the reader has ended, and the command with it. */
  public boolean hasEndedCommand() {
    return stream.endedCommand;
  }

  /** The reason of the first failed write, as the system reports it. */
  public Optional<String> failure() {
    return Optional.ofNullable(stream.failure).map(IOException::getMessage);
  }

  private static final class Stream extends FilterOutputStream {
    private IOException failure;
    private boolean unread;
    private volatile Thread command;
    private volatile boolean endedCommand;

    Stream(OutputStream out) {
      super(out);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
      if (unread) {
        return;
      }
      try {
        out.write(bytes, offset, length);
      } catch (IOException e) {
        if (!BrokenPipe.is(e)) {
          failure = failure == null ? e : failure;
          throw e;
        }
        unread = true;
        endCommand();
      }
    }

    private void endCommand() {
      Thread ends = command;
      if (ends == null) {
        return;
      }
      endedCommand = true;
      if (ends.equals(Thread.currentThread())) {
        throw new ReaderEndedException();
      }
      ends.interrupt();
    }
  }
}
