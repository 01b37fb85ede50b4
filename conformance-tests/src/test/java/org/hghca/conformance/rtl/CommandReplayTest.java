package org.hghca.conformance.rtl;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.hghca.abi.Hcr;
import org.hghca.conformance.abi.CommandVector;
import org.hghca.conformance.abi.Vectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Commands recorded on the RTL, replayed on its software HCA: the same statuses, the same DMA in
 * the same order, the same bytes.
 */
class CommandReplayTest {
  private static final int INBOX = 0x10_0000;
  private static final int OUTBOX = 0x11_0000;
  private static final int GUARD = 0xa5;
  private static final Pattern READ = Pattern.compile("DMARD \\w+ addr=(\\w+) len=(\\d+)");
  private static final Pattern WRITE =
      Pattern.compile("DMAWR \\w+ addr=(\\w+) len=(\\d+)( first)?(?: last)? data=(\\w+)");

  /** A recorded trace in the form of {@link FlatMemory#accesses}: a write is one, not its beats. */
  private static List<String> accesses(CommandVector vector) {
    List<String> accesses = new ArrayList<>();
    for (String line : vector.trace()) {
      Matcher read = READ.matcher(line);
      Matcher write = WRITE.matcher(line);
      if (read.matches()) {
        accesses.add("read %s %s".formatted(read.group(1), read.group(2)));
      } else if (write.matches() && write.group(3) != null) {
        accesses.add("write %s %s".formatted(write.group(1), write.group(4)));
      } else if (write.matches()) {
        accesses.add(accesses.removeLast() + write.group(4));
      }
    }
    return accesses;
  }

  private static void replay(RtlBench bench, CommandVector vector) {
    bench.memory.bytes.asSlice(OUTBOX, 4096).fill((byte) GUARD);
    bench.memory.bytes.asSlice(INBOX, 4096).fill((byte) 0);
    bench.memory.bytes.asSlice(INBOX).copyFrom(vector.inboxBytes());
    bench.memory.accesses.clear();
    int dword =
        bench.command(
            Vectors.number(vector.op()),
            Vectors.number(vector.opModifier()),
            Vectors.longNumber(vector.inParam()),
            Vectors.number(vector.inModifier()),
            Vectors.longNumber(vector.outParam()));
    assertThat(Hcr.go(dword)).as("%s still runs", vector).isFalse();
    assertThat(Hcr.status(dword)).as("%s", vector).isEqualTo(Vectors.number(vector.status()));
    assertThat(bench.memory.accesses).as("%s", vector).isEqualTo(accesses(vector));
    assertThat(bench.memory.hex(OUTBOX, vector.outbox().length() / 2)).isEqualTo(vector.outbox());
    assertThat(bench.read(Hcr.OUT_PARAM_HIGH)).isZero();
    assertThat(bench.read(Hcr.OUT_PARAM_LOW)).isZero();
  }

  static List<CommandVector> singleCommands() {
    return CommandVector.load("stage1_ceu_basic.json");
  }

  @ParameterizedTest
  @MethodSource("singleCommands")
  void singleCommandIsAnsweredAsRecorded(CommandVector vector) {
    try (RtlBench bench = new RtlBench()) {
      replay(bench, vector);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"stage1_ceu_sequence.json", "stage1_v2p_map.json"})
  void sequenceOfCommandsIsAnsweredAsRecorded(String file) {
    try (RtlBench bench = new RtlBench()) {
      CommandVector.load(file).forEach(vector -> replay(bench, vector));
    }
  }

  @Test
  void manyCommandsWereRecorded() {
    assertThat(singleCommands()).hasSize(42);
    assertThat(CommandVector.load("stage1_ceu_sequence.json")).hasSize(28);
    assertThat(CommandVector.load("stage1_v2p_map.json")).hasSize(18);
  }
}
