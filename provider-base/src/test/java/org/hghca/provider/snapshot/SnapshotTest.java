package org.hghca.provider.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import java.util.zip.CRC32C;
import org.hghca.provider.snapshot.Snapshot.Row;
import org.hghca.provider.snapshot.Snapshot.Subject;
import org.hghca.verbs.Counter;
import org.junit.jupiter.api.Test;

/** What is written is read, and nothing else. */
class SnapshotTest {

  private static byte[] bytes() {
    ByteBuffer encoded = SampleSnapshots.encoded();
    byte[] bytes = new byte[encoded.remaining()];
    encoded.get(bytes);
    return bytes;
  }

  private static Snapshot decode(byte[] bytes) throws IOException {
    return Snapshot.of(ByteBuffer.wrap(bytes));
  }

  /** With a checksum that fits the body again. */
  private static byte[] sealed(byte[] bytes) {
    CRC32C crc = new CRC32C();
    crc.update(bytes, SnapshotLayout.HEADER, bytes.length - SnapshotLayout.HEADER);
    ByteBuffer.wrap(bytes)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putInt(SnapshotLayout.CRC_AT, (int) crc.getValue());
    return bytes;
  }

  @Test
  void everyNumberAndTextIsRead() throws IOException {
    Snapshot read = decode(bytes());

    assertThat(read.program()).isEqualTo(SampleSnapshots.PROGRAM);
    assertThat(read.device()).isEqualTo("model:a");
    assertThat(read.locator()).isEqualTo("model:a?net=shm:lab");
    assertThat(read.time()).isEqualTo(SampleSnapshots.TIME);
    assertThat(read.rows()).hasSize(6);
    Row context = read.rows(Kind.CONTEXT).findFirst().orElseThrow();
    assertThat(context.values()).hasSize(Counter.values().length);
    for (Counter counter : Counter.values()) {
      assertThat(context.value(counter.text())).isEqualTo(1000 + counter.ordinal());
    }
    Row qp = read.rows(Kind.QUEUE_PAIR).findFirst().orElseThrow();
    assertThat(qp.subject()).isEqualTo(SampleSnapshots.QUEUE_PAIR);
    assertThat(qp.value("sent_bytes")).isEqualTo(2000 + Counter.SENT_BYTES.ordinal());
    assertThat(qp.value("received_bytes")).isEqualTo(2000 + Counter.RECEIVED_BYTES.ordinal());
    assertThat(read.rows(Kind.QUEUE_PAIR).skip(1).findFirst().orElseThrow().subject())
        .isEqualTo(Subject.others(Kind.QUEUE_PAIR, 7));
    Row queue = read.rows(Kind.COMPLETION_QUEUE).findFirst().orElseThrow();
    assertThat(queue.subject().number()).isEqualTo(0x21);
    assertThat(queue.value("naks")).isEqualTo(4000 + Counter.NAKS.ordinal());
    Row port = read.rows(Kind.PORT).findFirst().orElseThrow();
    assertThat(port.value("packets_sent")).isEqualTo(5000);
    assertThat(port.value("duplicates")).isEqualTo(5001);
    assertThat(port.value("retries")).isZero();
    assertThat(read.rows(Kind.LINK)).hasSize(1);
  }

  @Test
  void nothingIsLeftOfTheSnapshotBefore() throws IOException {
    SnapshotEncoder encoder =
        new SnapshotEncoder(
            SampleSnapshots.PROGRAM, SampleSnapshots.DEVICE, SampleSnapshots.LOCATOR);
    Snapshot first = Snapshot.of(SampleSnapshots.encoded(encoder, 0));
    encoder.begin();
    encoder.row(Subject.of(Kind.CONTEXT, 4, 0, "failed"), SampleSnapshots.tally(1));
    Snapshot second = Snapshot.of(encoder.end(1));

    assertThat(first.rows()).hasSize(6);
    assertThat(second.rows()).hasSize(1);
    assertThat(second.rows().getFirst().subject().state()).isEqualTo("failed");
  }

  @Test
  void manyRowsAreRead() throws IOException {
    SnapshotEncoder encoder = new SnapshotEncoder(SampleSnapshots.PROGRAM, "d", "l");
    encoder.begin();
    for (int i = 0; i < 5000; i++) {
      encoder.row(
          new Subject(Kind.QUEUE_PAIR, 1, i, 0, "UD", "RTS", "", 0), SampleSnapshots.tally(i));
    }
    Snapshot read = Snapshot.of(encoder.end(1));

    assertThat(read.rows()).hasSize(5000);
    for (int i = 0; i < 5000; i++) {
      assertThat(read.rows().get(i).subject().number()).isEqualTo(i);
      assertThat(read.rows().get(i).value("sends_posted")).isEqualTo(i);
    }
  }

  @Test
  void anotherVersionIsNamed() {
    byte[] bytes = bytes();
    bytes[SnapshotLayout.VERSION_AT] = 9;
    assertThatThrownBy(() -> decode(bytes))
        .isInstanceOf(IOException.class)
        .hasMessage(
            "has layout 9, of another version of hghca than this one, which reads layout 1");
  }

  @Test
  void everyCutIsTold() {
    byte[] whole = bytes();
    for (int length = 0; length < whole.length; length++) {
      byte[] cut = Arrays.copyOf(whole, length);
      assertThatThrownBy(() -> decode(cut))
          .as("%d bytes", length)
          .isInstanceOf(IOException.class)
          .hasMessage("is cut short");
    }
  }

  @Test
  void anyOtherBodyIsDamaged() {
    byte[] whole = bytes();
    for (int at = SnapshotLayout.HEADER; at < whole.length; at++) {
      byte[] bent = whole.clone();
      bent[at] ^= 0x40;
      assertThatThrownBy(() -> decode(bent))
          .isInstanceOf(IOException.class)
          .hasMessageStartingWith("is damaged: its checksum");
    }
  }

  /** Whose checksum is right: another program of the user may write anything. */
  @Test
  void hostileContentIsRefusedOrReadWithinItsBounds() {
    byte[] whole = bytes();
    SplittableRandom random = new SplittableRandom(7);
    int refused = 0;
    for (int i = 0; i < 100_000; i++) {
      byte[] bent = whole.clone();
      int changes = 1 + random.nextInt(4);
      for (int c = 0; c < changes; c++) {
        int at = random.nextInt(SnapshotLayout.HEADER, bent.length);
        bent[at] = (byte) random.nextInt(256);
      }
      try {
        Map<Kind, Long> seen =
            decode(sealed(bent)).rows().stream()
                .collect(Collectors.groupingBy(row -> row.subject().kind(), Collectors.counting()));
        assertThat(seen.values().stream().mapToLong(Long::longValue).sum()).isLessThan(100);
      } catch (IOException e) {
        refused++;
        assertThat(e).hasMessageMatching("is (damaged|cut short).*");
      }
    }
    assertThat(refused).isGreaterThan(1000);
  }

  @Test
  void whatWouldControlATerminalIsNotRead() throws IOException {
    SnapshotEncoder encoder =
        new SnapshotEncoder(
            new Snapshot.Program(1, 2, "a\033[2Jb\nc\u009bd"), "x".repeat(5000), "");
    encoder.begin();
    Snapshot read = Snapshot.of(encoder.end(1));

    assertThat(read.program().name()).isEqualTo("a?[2Jb?c?d");
    assertThat(read.device()).isEqualTo("x".repeat(SnapshotLayout.MOST_TEXT));
  }
}
