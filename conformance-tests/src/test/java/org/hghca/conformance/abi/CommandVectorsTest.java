package org.hghca.conformance.abi;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.hghca.abi.CommandStatus;
import org.hghca.abi.Hcr;
import org.hghca.abi.HcrCommand;
import org.hghca.abi.MapIcm;
import org.hghca.abi.WriteMtt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What the recorded commands show about the HCR, opcodes, statuses and the sizes of mailboxes. */
class CommandVectorsTest {
  static Stream<CommandVector> all() {
    return CommandVector.all();
  }

  private static HcrCommand command(CommandVector vector) {
    return HcrCommand.of(Vectors.number(vector.op())).orElseThrow();
  }

  @Test
  void filesHoldTheRecordedNumberOfCommands() {
    assertThat(CommandVector.load("stage1_ceu_basic.json")).hasSize(42);
    assertThat(CommandVector.load("stage1_ceu_sequence.json")).hasSize(28);
    assertThat(CommandVector.load("stage1_v2p_map.json")).hasSize(18);
  }

  @ParameterizedTest
  @MethodSource("all")
  void commandDwordIsComposedOfItsFields(CommandVector vector) {
    int started = Vectors.number("008" + vector.opModifier() + vector.op());
    int completed = Vectors.number(vector.status() + "0" + vector.opModifier() + vector.op());
    int op = Vectors.number(vector.op());
    int opModifier = Vectors.number(vector.opModifier());

    assertThat(Hcr.command(op, opModifier)).isEqualTo(started);
    assertThat(Hcr.completed(started, Vectors.number(vector.status()))).isEqualTo(completed);
    assertThat(Hcr.op(completed)).isEqualTo(op);
    assertThat(Hcr.opModifier(completed)).isEqualTo(opModifier);
    assertThat(Hcr.status(completed)).isEqualTo(Vectors.number(vector.status()));
    assertThat(Hcr.go(completed)).isFalse();
  }

  @ParameterizedTest
  @MethodSource("all")
  void everyRecordedStatusHasAName(CommandVector vector) {
    CommandStatus status = CommandStatus.of(Vectors.number(vector.status())).orElseThrow();

    assertThat(status)
        .isEqualTo(
            Map.of(
                    "00",
                    CommandStatus.OK,
                    "02",
                    CommandStatus.BAD_OP,
                    "03",
                    CommandStatus.BAD_PARAM)
                .get(vector.status()));
  }

  static Stream<CommandVector> refusedAsUnknown() {
    return all().filter(vector -> vector.status().equals("02"));
  }

  @ParameterizedTest
  @MethodSource("refusedAsUnknown")
  void opcodesThatTheRtlRefusesAreNoCommandsExceptTwo(CommandVector vector) {
    Optional<HcrCommand> expected =
        switch (vector.op()) {
          case "031" -> Optional.of(HcrCommand.NOP);
          case "023" -> Optional.of(HcrCommand.CONF_SPECIAL_QP);
          default -> Optional.empty();
        };
    assertThat(HcrCommand.of(Vectors.number(vector.op()))).isEqualTo(expected);
  }

  static Stream<CommandVector> accepted() {
    return all().filter(vector -> vector.status().equals("00"));
  }

  @ParameterizedTest
  @MethodSource("accepted")
  void acceptedCommandsAreInTheTableWithTheirOpModifier(CommandVector vector) {
    assertThat(command(vector).allowsOpModifier(Vectors.number(vector.opModifier()))).isTrue();
  }

  @ParameterizedTest
  @MethodSource("accepted")
  void cardFetchesAnInboxOfTheCommandsSize(CommandVector vector) {
    HcrCommand command = command(vector);
    int expected =
        switch (command) {
          case MAP_ICM -> MapIcm.size(vector.count());
          case WRITE_MTT -> WriteMtt.size(vector.count());
          case RESIZE_CQ -> 8; // the document has 32 bytes, the RTL fetches the first 8
          default -> command.inboxSize();
        };

    assertThat(vector.inboxRead()).isEqualTo(expected);
  }

  @ParameterizedTest
  @MethodSource("accepted")
  void cardWritesAnOutboxOfTheCommandsSize(CommandVector vector) {
    assertThat(vector.outboxWritten()).isEqualTo(command(vector).outboxSize());
  }

  static Stream<CommandVector> refusedForTheirParameter() {
    return all().filter(vector -> vector.status().equals("03") && !vector.op().equals("009"));
  }

  @ParameterizedTest
  @MethodSource("refusedForTheirParameter")
  void refusedParametersAreThoseThatTheTablesForbid(CommandVector vector) {
    HcrCommand command = command(vector);
    int opModifier = Vectors.number(vector.opModifier());
    boolean inboxMissing =
        Vectors.longNumber(vector.inParam()) == 0 && command.hasInbox(opModifier);
    boolean outboxMissing = Vectors.longNumber(vector.outParam()) == 0 && command.outboxSize() > 0;

    assertThat(List.of(inboxMissing, outboxMissing, !command.allowsOpModifier(opModifier)))
        .as("inbox missing, outbox missing, illegal op_modifier")
        .contains(true);
  }
}
