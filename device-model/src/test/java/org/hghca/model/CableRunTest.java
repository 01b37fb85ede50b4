package org.hghca.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.nio.channels.Channels;
import java.nio.channels.WritableByteChannel;
import java.util.SplittableRandom;
import org.hghca.model.Host.Buffer;
import org.hghca.model.Host.Piece;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Long messages over a cable, as runs of packets and as the packets that a capture needs: memories,
 * completions and all counters of both HCAs and of the cable are the same.
 */
class CableRunTest {
  private static final int BYTES = 300_000;
  private static final int MESSAGES = 60;

  private static void open(Pair pair, boolean captured) throws IOException {
    if (captured) {
      WritableByteChannel sink = Channels.newChannel(OutputStream.nullOutputStream());
      pair.leftHca().capture(sink, "nothing");
    }
  }

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 2, 3, 4, 5, 6})
  void runsCountAsTheirPackets(long seed) throws IOException {
    try (Pair asPackets = new Pair().connect();
        Pair asRuns = new Pair().connect()) {
      open(asPackets, true);
      Messages packets = new Messages(asPackets, seed);
      Messages runs = new Messages(asRuns, seed);
      for (int i = 0; i < MESSAGES; i++) {
        packets.post();
        runs.post();
        assertThat(runs.near.memory().mismatch(packets.near.memory())).isEqualTo(-1);
        assertThat(runs.far.memory().mismatch(packets.far.memory())).isEqualTo(-1);
        assertThat(runs.completions()).isEqualTo(packets.completions());
        assertThat(asRuns.leftHca().counters()).isEqualTo(asPackets.leftHca().counters());
        assertThat(asRuns.rightHca().counters()).isEqualTo(asPackets.rightHca().counters());
        assertThat(cable(asRuns).counters()).isEqualTo(cable(asPackets).counters());
      }
      assertThat(cable(asRuns).runs()).isGreaterThan(MESSAGES / 2);
      assertThat(cable(asPackets).runs()).isZero();
    }
  }

  /** With drops in one direction the packets of a message are lost one by one. */
  @Test
  void aDisturbedCableLosesPacketsOfAMessage() {
    try (Pair pair = new Pair().connect()) {
      cable(pair).disturbFrom(pair.leftHca(), Disturbance.NONE.withDrop(0.5).withSeed(3));
      Buffer near = pair.left.buffer(BYTES, Host.ALL);
      Buffer far = pair.right.buffer(BYTES, Host.ALL);
      pair.a.write(far, 0, new Piece(near, 0, 100_000));
      assertThat(cable(pair).counters().dropped()).isGreaterThan(1);
    }
  }

  private static Cable cable(Pair pair) {
    return pair.leftHca().cable().orElseThrow();
  }

  /** Random messages over one pair. */
  private static final class Messages {
    private final Pair pair;
    private final SplittableRandom random;
    final Buffer near;
    final Buffer far;

    Messages(Pair pair, long seed) {
      this.pair = pair;
      this.random = new SplittableRandom(seed);
      near = pair.left.buffer(BYTES, Host.ALL);
      far = pair.right.buffer(BYTES, Host.ALL);
      fill(near);
      fill(far);
    }

    private void fill(Buffer buffer) {
      byte[] bytes = new byte[BYTES];
      random.nextBytes(bytes);
      MemorySegment.copy(MemorySegment.ofArray(bytes), 0, buffer.memory(), 0, BYTES);
    }

    void post() {
      int length = random.nextInt(BYTES / 2);
      int from = random.nextInt(BYTES - length);
      int to = random.nextInt(BYTES - length);
      int cut = random.nextInt(length + 1);
      Piece first = new Piece(near, from, cut);
      Piece second = new Piece(near, from + cut, length - cut);
      switch (random.nextInt(3)) {
        case 0 -> pair.a.write(far, to, first, second);
        case 1 -> pair.a.read(far, to, first, second);
        default -> {
          pair.b.receive(new Piece(far, to, cut), new Piece(far, to + cut, length - cut));
          pair.a.send(first, second);
        }
      }
    }

    String completions() {
      StringBuilder all = new StringBuilder();
      while (pair.a.cq.hasNext()) {
        all.append(pair.a.cq.take());
      }
      while (pair.b.cq.hasNext()) {
        all.append(pair.b.cq.take());
      }
      assertThat(all.toString()).isNotEmpty();
      return all.toString();
    }
  }
}
