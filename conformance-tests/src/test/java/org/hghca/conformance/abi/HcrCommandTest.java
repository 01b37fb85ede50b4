package org.hghca.conformance.abi;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import org.hghca.abi.Hcr;
import org.hghca.abi.HcrCommand;
import org.hghca.abi.MapIcm;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Interface document, table 3-2-1 and the register tables of the single commands. */
class HcrCommandTest {
  @ParameterizedTest
  @CsvSource({
    "0x003, CMD_QUERY_DEV_LIM,    DEVICE",
    "0x006, CMD_QUERY_ADAPTER,    DEVICE",
    "0x007, CMD_INIT_HCA,         DEVICE",
    "0x008, CMD_CLOSE_HCA,        DEVICE",
    "0xffa, CMD_MAP_ICM,          ICM",
    "0xff9, CMD_UNMAP_ICM,        ICM",
    "0x00d, CMD_SW2HW_MPT,        TPT",
    "0x00f, CMD_HW2SW_MPT,        TPT",
    "0x011, CMD_WRITE_MTT,        TPT",
    "0x012, CMD_MAP_EQ,           EQ",
    "0x013, CMD_SW2HW_EQ,         EQ",
    "0x014, CMD_HW2SW_EQ,         EQ",
    "0x016, CMD_SW2HW_CQ,         CQ",
    "0x017, CMD_HW2SW_CQ,         CQ",
    "0x02c, CMD_RESIZE_CQ,        CQ",
    "0x019, CMD_RST2INIT_QPEE,    QP",
    "0x01a, CMD_INIT2RTR_QPEE,    QP",
    "0x01b, CMD_RTR2RTS_QPEE,     QP",
    "0x01c, CMD_RTS2RTS_QPEE,     QP",
    "0x01d, CMD_SQERR2RTS_QPEE,   QP",
    "0x01e, CMD_2ERR_QPEE,        QP",
    "0x01f, CMD_RTS2SQD_QPEE,     QP",
    "0x038, CMD_SQD2SQD_QPEE,     QP",
    "0x020, CMD_SQD2RTS_QPEE,     QP",
    "0x021, CMD_ERR2RST_QPEE,     QP",
    "0x02d, CMD_INIT2INIT_QPEE,   QP",
    "0x022, CMD_QUERY_QP,         QP",
    "0x023, CMD_CONF_SPECIAL_QP,  QP",
    "0x024, CMD_MAD_IFC,          QP",
    "0x031, CMD_NOP,              OTHERS",
  })
  void opcodesAndNamesAreThoseOfTable321(String opcode, String symbol, HcrCommand.Group group) {
    HcrCommand command = HcrCommand.of(Integer.decode(opcode)).orElseThrow();

    assertThat(command.code()).isEqualTo(Integer.decode(opcode));
    assertThat(command.symbol()).isEqualTo(symbol);
    assertThat(command.group()).isEqualTo(group);
  }

  @Test
  void tableHasThirtyCommands() {
    assertThat(Arrays.stream(HcrCommand.values()).filter(command -> !command.isExtension()))
        .hasSize(30);
    assertThat(Arrays.stream(HcrCommand.values()).map(HcrCommand::code)).doesNotHaveDuplicates();
  }

  @ParameterizedTest
  @ValueSource(ints = {0x000, 0x001, 0x004, 0x009, 0x00a, 0x00c, 0x018, 0xffc, 0xffd, 0xfff})
  void opcodesOutsideTheTableNameNoCommand(int opcode) {
    assertThat(HcrCommand.of(opcode)).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    // command, bytes of the inbox, bytes of the outbox, in_param is the argument itself
    "QUERY_DEV_LIM, 0,  64, false", // tables 3-2-2, 3-2-3
    "QUERY_ADAPTER, 0,  32, false", // 3-2-5, 3-2-6
    "INIT_HCA,      64,  0, false", // 3-2-8, 3-2-9
    "CLOSE_HCA,     0,   0, false", // 3-2-11
    "UNMAP_ICM,     0,   0, true", // 3-2-15
    "SW2HW_MPT,     64,  0, false", // 3-2-16, 3-2-17
    "HW2SW_MPT,     0,   0, false", // 3-2-20
    "MAP_EQ,        0,   0, true", // 3-2-24
    "SW2HW_EQ,      64,  0, false", // 3-2-26, 3-2-27
    "HW2SW_EQ,      0,   0, false", // 3-2-30
    "SW2HW_CQ,      64,  0, false", // 3-2-31, 3-2-32
    "HW2SW_CQ,      0,   0, false", // 3-2-35
    "RESIZE_CQ,     32,  0, false", // 3-2-36, 3-2-37
    "QUERY_QP,      0, 192, false", // 3-2-43
    "NOP,           0,   0, false", // 3-2-44
  })
  void mailboxesMatchTheCommandsTables(
      HcrCommand command, int inbox, int outbox, boolean immediate) {
    assertThat(command.inboxSize()).isEqualTo(inbox);
    assertThat(command.hasInbox(0)).isEqualTo(inbox > 0);
    assertThat(command.outboxSize()).isEqualTo(outbox);
    assertThat(command.hasImmediateInput()).isEqualTo(immediate);
    assertThat(command.isModifyQp()).isFalse();
  }

  @ParameterizedTest
  @CsvSource({"MAP_ICM", "WRITE_MTT"})
  void inboxOfACountedCommandDependsOnTheCount(HcrCommand command) {
    assertThat(command.inboxSize()).isEqualTo(HcrCommand.VARIABLE);
    assertThat(command.hasInbox(command.opModifiers().getFirst())).isTrue();
    assertThat(command.outboxSize()).isZero();
    assertThat(command.hasImmediateInput()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      ints = {0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f, 0x38, 0x20, 0x21, 0x2d}) // table 3-2-39
  void elevenCommandsAreModifyQp(int opcode) {
    HcrCommand command = HcrCommand.of(opcode).orElseThrow();

    assertThat(command.isModifyQp()).isTrue();
    assertThat(command.inboxSize()).isEqualTo(192);
    assertThat(command.hasInbox(0)).isTrue();
    assertThat(command.outboxSize()).isZero();
    assertThat(command.allowsOpModifier(0)).isTrue();
    assertThat(command.allowsOpModifier(1)).isFalse();
    assertThat(Arrays.stream(HcrCommand.values()).filter(HcrCommand::isModifyQp)).hasSize(11);
  }

  @Test
  void onlyTheTransitionToResetHasNoInbox() {
    assertThat(HcrCommand.NO_INBOX).isEqualTo(3);
    assertThat(HcrCommand.ERR2RST.opModifiers()).isEqualTo(List.of(0, 3));
    assertThat(HcrCommand.ERR2RST.hasInbox(3)).isFalse();
    assertThat(HcrCommand.RST2INIT.opModifiers()).isEqualTo(List.of(0));
    assertThat(HcrCommand.ANY2ERR.opModifiers()).isEqualTo(List.of(0));
  }

  @ParameterizedTest
  @CsvSource({"MAP_ICM", "UNMAP_ICM"})
  void icmCommandsHaveTheKindOfTableAsOpModifier(HcrCommand command) {
    assertThat(command.opModifiers()).isEqualTo(List.of(1, 2));
    assertThat(MapIcm.CONTEXTS).isEqualTo(1); // QPC, CQC, EQC: tables 3-2-12 and 3-2-15
    assertThat(MapIcm.TRANSLATION).isEqualTo(2); // MPT, MTT
    assertThat(command.allowsOpModifier(0)).isFalse();
    assertThat(command.allowsOpModifier(3)).isFalse();
  }

  @Test
  void unmapIcmCommandDwordsMatchTable3215() {
    assertThat(Hcr.command(HcrCommand.UNMAP_ICM.code(), MapIcm.CONTEXTS)).isEqualTo(0x00801ff9);
    assertThat(Hcr.command(HcrCommand.UNMAP_ICM.code(), MapIcm.TRANSLATION)).isEqualTo(0x00802ff9);
  }

  @Test
  void nopHasItsOwnInModifier() {
    assertThat(HcrCommand.NOP_IN_MODIFIER).isEqualTo(0x1f); // table 3-2-44
  }

  @Test
  void allOtherCommandsHaveOpModifierZero() {
    List<HcrCommand> others =
        Arrays.stream(HcrCommand.values())
            .filter(command -> command.group() != HcrCommand.Group.ICM)
            .filter(command -> command != HcrCommand.ERR2RST && command != HcrCommand.MAD_IFC)
            .toList();

    assertThat(others).filteredOn(command -> !command.isExtension()).hasSize(26);
    assertThat(others).allSatisfy(c -> assertThat(c.opModifiers()).isEqualTo(List.of(0)));
  }
}
