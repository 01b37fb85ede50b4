package org.hghca.wire.capture;

import java.io.IOException;
import java.util.Optional;

/** The frames of a capture in one format. */
sealed interface FrameSource permits PcapngReader, PcapReader {

  /** The next frame, or none at the end. */
  Optional<CapturedFrame> next() throws IOException;
}
