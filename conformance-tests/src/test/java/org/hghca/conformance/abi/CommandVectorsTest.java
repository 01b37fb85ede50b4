package org.hghca.conformance.abi;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.hghca.abi.HcrCommand;
import org.hghca.abi.MapIcm;
import org.hghca.abi.WriteMtt;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What the recorded commands show about opcodes, parameters and the sizes of mailboxes. */
class CommandVectorsTest {
  static Stream<CommandVector> all() {
    return CommandVector.all();
  }

  private static HcrCommand command(CommandVector vector) {
    return HcrCommand.of(Vectors.number(vector.op())).orElseThrow();
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
