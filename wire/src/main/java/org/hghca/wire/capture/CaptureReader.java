package org.hghca.wire.capture;

import java.io.IOException;
import java.io.InputStream;
import java.util.Optional;

/**
 * Reads a capture, pcapng or pcap. It holds one block of the file at a time, and refuses lengths
 * that are not valid, so that any bytes may be read. Used by one thread.
 */
public final class CaptureReader implements AutoCloseable {
  private final CaptureInput input;
  private final FrameSource frames;
  private final SkippedBlocks skipped = new SkippedBlocks();

  /**
   * Starts reading.
   *
   * @param in closed with the reader
   * @throws CaptureException when it is not a capture
   * @throws IOException when it cannot be read
   */
  public CaptureReader(InputStream in) throws IOException {
    this.input = new CaptureInput(in);
    int magic = input.peek();
    this.frames =
        switch (magic) {
          case PcapngBlocks.SECTION -> new PcapngReader(input, skipped);
          case PcapReader.MICROSECONDS, PcapReader.NANOSECONDS, 0xd4c3b2a1, 0x4d3cb2a1 ->
              new PcapReader(input);
          default ->
              throw new CaptureException(
                  "neither pcapng nor pcap: it begins with %08x".formatted(magic));
        };
  }

  /**
   * The next frame, or none at the end of the file.
   *
   * @throws CaptureException when the file is truncated or malformed; all earlier frames were
   *     complete
   * @throws IOException when it cannot be read
   */
  public Optional<CapturedFrame> next() throws IOException {
    return frames.next().map(CapturedFrame::withDirectionOfLink);
  }

  /** The blocks that were skipped so far: what they hold is not known. */
  public SkippedBlocks skipped() {
    return skipped;
  }

  @Override
  public void close() throws IOException {
    input.close();
  }
}
