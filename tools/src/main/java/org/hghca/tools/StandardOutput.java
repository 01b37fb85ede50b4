package org.hghca.tools;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.charset.Charset;
import java.util.Optional;

/** The standard output or error of the process, which records why writing failed. */
final class StandardOutput extends PrintWriter {
  private final Stream stream;

  private StandardOutput(Stream stream, Charset charset) {
    super(stream, true, charset);
    this.stream = stream;
  }

  static StandardOutput of(FileDescriptor descriptor, Charset charset) {
    return new StandardOutput(new Stream(new FileOutputStream(descriptor)), charset);
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
