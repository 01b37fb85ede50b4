package org.hghca.virtio;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.hghca.virtio.FakeDevice.Buffer;
import org.hghca.virtio.VirtioException.Reason;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Commands and what a device may answer. */
class ControlQueueTest extends FakeDeviceFixture {
  private static final int CONTROL = 2;

  private final List<List<Buffer>> commands = new ArrayList<>();
  private final List<byte[]> data = new ArrayList<>();
  private VirtioDevice device;
  private ControlQueue control;

  /** What the device answers: the result, the answer, and how much it says that it wrote. */
  private int result;

  private byte[] answer = {};
  private int written = -1;

  @BeforeEach
  void start() {
    device = negotiated();
    control =
        new ControlQueue(device, device.queue(CONTROL, 64, NO_VECTOR), Duration.ofMillis(300));
    device.start();
    fake.onNotify = this::answer;
  }

  private void answer() {
    int head = fake.take(CONTROL);
    List<Buffer> chain = fake.chain(CONTROL, head);
    commands.add(chain);
    List<Buffer> parts = chain.stream().filter(buffer -> !buffer.writable()).toList();
    byte[] all = new byte[parts.stream().mapToInt(Buffer::length).sum()];
    int at = 0;
    for (Buffer part : parts) {
      System.arraycopy(fake.memory(part.address(), part.length()), 0, all, at, part.length());
      at += part.length();
    }
    data.add(all);
    List<Buffer> places = chain.stream().filter(Buffer::writable).toList();
    if (result >= 0) {
      fake.put(places.get(0).address(), 1, result);
    }
    for (int i = 0; i < answer.length; i++) {
      fake.put(places.get(1).address() + i, 1, answer[i]);
    }
    fake.use(CONTROL, head, written >= 0 ? written : 1 + answer.length);
  }

  private static MemorySegment bytes(String hex) {
    return MemorySegment.ofArray(HexFormat.of().parseHex(hex));
  }

  private boolean execute(String command, MemorySegment place) {
    return control.execute(6, 2, bytes(command), place);
  }

  @Test
  void commandIsHeaderDataResultAndAnswer() {
    answer = new byte[] {7, 0, 0, 1};
    MemorySegment place = MemorySegment.ofArray(new byte[4]);
    assertThat(execute("10203040", place)).isTrue();
    assertThat(place.toArray(JAVA_BYTE)).containsExactly(7, 0, 0, 1);
    assertThat(data.getFirst()).containsExactly(6, 2, 0x10, 0x20, 0x30, 0x40);
    assertThat(commands.getFirst())
        .extracting(Buffer::length, Buffer::writable)
        .containsExactly(tuple(2, false), tuple(4, false), tuple(1, true), tuple(4, true));
  }

  @Test
  void commandWithoutDataAndAnswerHasTwoBuffers() {
    assertThat(control.execute(0, 0, EMPTY, EMPTY)).isTrue();
    assertThat(commands.getFirst()).extracting(Buffer::length).containsExactly(2, 1);
  }

  @Test
  void refusalGivesNoAnswer() {
    result = 1;
    MemorySegment place = bytes("eeeeeeee");
    assertThat(execute("", place)).isFalse();
    assertThat(place.toArray(JAVA_BYTE)).containsOnly(0xee);
    result = 0;
    answer = new byte[4];
    assertThat(execute("", place)).isTrue();
  }

  @Test
  void manyCommandsInARow() {
    for (int i = 0; i < 1000; i++) {
      assertThat(control.execute(1, i & 0xff, bytes("00"), EMPTY)).isTrue();
    }
    assertThat(commands).hasSize(1000);
  }

  @Test
  void longDataIsOneBufferWhereItIsContiguous() {
    byte[] pages = new byte[34 + 8 * 5000];
    for (int i = 0; i < pages.length; i++) {
      pages[i] = (byte) (i * 7);
    }
    int mappings = function.mappings();
    assertThat(control.execute(6, 7, MemorySegment.ofArray(pages), EMPTY)).isTrue();
    assertThat(commands.getFirst()).extracting(Buffer::length).containsExactly(2, pages.length, 1);
    assertThat(data.getFirst()).startsWith(6, 7, 0, 7, 14).hasSize(pages.length + 2);
    assertThat(data.getFirst()[pages.length + 1]).isEqualTo(pages[pages.length - 1]);
    assertThat(function.mappings()).isEqualTo(mappings);
  }

  @Test
  void answerThatIsTooLongForTheMemoryIsRefused() {
    MemorySegment place = MemorySegment.ofArray(new byte[897]);
    assertThatThrownBy(() -> execute("", place))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("896");
    assertThat(commands).isEmpty();
  }

  @Test
  void timeOutFailsTheQueueAndKeepsItsMemory() {
    fake.onNotify = () -> {};
    byte[] pages = new byte[100_000];
    assertFailure(
            Reason.TIMED_OUT, () -> control.execute(6, 7, MemorySegment.ofArray(pages), EMPTY))
        .withMessageContainingAll("command 7 of class 6", "PT0.3S", "attach it again");
    fake.onNotify = this::answer;
    assertFailure(Reason.TIMED_OUT, () -> execute("", EMPTY));
    assertThat(commands).isEmpty();
    // The ring, the memory of commands and that of the long one.
    assertThat(function.mappings()).isEqualTo(3);
    device.close();
    assertThat(function.mappings()).isZero();
  }

  @Test
  void deviceThatFailsMeanwhileIsNoticed() {
    fake.onNotify = () -> fake.status |= 64;
    assertFailure(Reason.FAILED, () -> execute("", EMPTY)).withMessageContaining("NEEDS_RESET");
    assertFailure(Reason.FAILED, () -> execute("", EMPTY));
  }

  @Test
  void resultThatWasNotWrittenIsRefused() {
    result = -1;
    written = 0;
    assertFailure(Reason.MALFORMED, () -> execute("", EMPTY))
        .withMessageContainingAll("command 2 of class 6", "0 bytes");
    assertFailure(Reason.MALFORMED, () -> execute("", EMPTY));
  }

  @Test
  void undefinedResultIsRefused() {
    result = 2;
    assertFailure(Reason.MALFORMED, () -> execute("", EMPTY)).withMessageContaining("result 2");
  }

  @Test
  void shortAnswerIsRefused() {
    written = 3;
    assertFailure(Reason.MALFORMED, () -> execute("", MemorySegment.ofArray(new byte[4])))
        .withMessageContaining("3 bytes of 5");
  }

  @Test
  void lieAboutTheQueueFailsTheCommand() {
    fake.onNotify = () -> fake.use(CONTROL, 63, 1);
    assertFailure(Reason.MALFORMED, () -> execute("", EMPTY)).withMessageContaining("chain 63");
    assertFailure(Reason.MALFORMED, () -> execute("", EMPTY)).withMessageContaining("chain 63");
  }
}
