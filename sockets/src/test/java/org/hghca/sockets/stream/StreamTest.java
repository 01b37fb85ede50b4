package org.hghca.sockets.stream;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

class StreamTest {
  @Test
  void bytesArriveAsTheyWereWritten() throws IOException {
    try (TwoStreamDevices devices = TwoStreamDevices.onHub("");
        TwoStreamDevices.Pair pair = devices.pair()) {
      byte[] sent = {1, 2, 3, 4, 5};
      TwoStreamDevices.writeFully(pair.client(), ByteBuffer.wrap(sent));
      ByteBuffer got = ByteBuffer.allocate(sent.length);
      TwoStreamDevices.readFully(pair.server(), got);
      assertThat(got.array()).isEqualTo(sent);
    }
  }
}
