package org.hghca.abi;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class HcrCommandTest {
  @ParameterizedTest
  @CsvSource({
    "3, CMD_QUERY_DEV_LIM, DEVICE, 0, 64",
    "6, CMD_QUERY_ADAPTER, DEVICE, 0, 32",
    "7, CMD_INIT_HCA, DEVICE, 64, 0",
    "8, CMD_CLOSE_HCA, DEVICE, 0, 0",
    "ffa, CMD_MAP_ICM, ICM, -1, 0",
    "ff9, CMD_UNMAP_ICM, ICM, 0, 0",
    "d, CMD_SW2HW_MPT, TPT, 64, 0",
    "f, CMD_HW2SW_MPT, TPT, 0, 0",
    "11, CMD_WRITE_MTT, TPT, -1, 0",
    "12, CMD_MAP_EQ, EQ, 0, 0",
    "13, CMD_SW2HW_EQ, EQ, 64, 0",
    "14, CMD_HW2SW_EQ, EQ, 0, 0",
    "16, CMD_SW2HW_CQ, CQ, 64, 0",
    "17, CMD_HW2SW_CQ, CQ, 0, 0",
    "2c, CMD_RESIZE_CQ, CQ, 32, 0",
    "19, CMD_RST2INIT_QPEE, QP, 192, 0",
    "1a, CMD_INIT2RTR_QPEE, QP, 192, 0",
    "1b, CMD_RTR2RTS_QPEE, QP, 192, 0",
    "1c, CMD_RTS2RTS_QPEE, QP, 192, 0",
    "1d, CMD_SQERR2RTS_QPEE, QP, 192, 0",
    "1e, CMD_2ERR_QPEE, QP, 192, 0",
    "1f, CMD_RTS2SQD_QPEE, QP, 192, 0",
    "38, CMD_SQD2SQD_QPEE, QP, 192, 0",
    "20, CMD_SQD2RTS_QPEE, QP, 192, 0",
    "21, CMD_ERR2RST_QPEE, QP, 192, 0",
    "2d, CMD_INIT2INIT_QPEE, QP, 192, 0",
    "22, CMD_QUERY_QP, QP, 0, 192",
    "23, CMD_CONF_SPECIAL_QP, QP, 0, 0",
    "24, CMD_MAD_IFC, QP, 0, 32",
    "31, CMD_NOP, OTHERS, 0, 0",
    "35, CMD_SW2HW_SRQ, SRQ, 64, 0",
    "36, CMD_HW2SW_SRQ, SRQ, 0, 0",
    "37, CMD_QUERY_SRQ, SRQ, 0, 64",
    "40, CMD_ARM_SRQ, SRQ, 0, 0",
    "41, CMD_RESIZE_SRQ, SRQ, 64, 0",
    "42, CMD_WRITE_GID, GID, 16, 0",
    "25, CMD_READ_MGM, MCG, 0, 256",
    "26, CMD_WRITE_MGM, MCG, 256, 0"
  })
  void commandOfTheTable(
      String code, String symbol, HcrCommand.Group group, int inboxSize, int outboxSize) {
    HcrCommand command = HcrCommand.of(Integer.parseInt(code, 16)).orElseThrow();
    assertThat(command.symbol()).isEqualTo(symbol);
    assertThat(command.group()).isEqualTo(group);
    assertThat(command.inboxSize()).isEqualTo(inboxSize);
    assertThat(command.outboxSize()).isEqualTo(outboxSize);
  }

  @Test
  void thirtyCommandsAndEightExtensionsExist() {
    assertThat(HcrCommand.values()).hasSize(38);
    assertThat(Arrays.stream(HcrCommand.values()).map(HcrCommand::code).collect(Collectors.toSet()))
        .hasSize(38);
    assertThat(Arrays.stream(HcrCommand.values()).filter(HcrCommand::isExtension)).hasSize(8);
  }

  @Test
  void opcodesOutsideTheTableAreUnknown() {
    // QUERY_FW, INIT_IB, CLOSE_IB, SET_IB, RUN_FW, MAP_ICM_AUX and SET_ICM_SIZE of the ancestor.
    for (int code : new int[] {0, 4, 9, 0xA, 0xC, 0xFF6, 0xFFC, 0xFFD, 0xFFF, -1, 0x1003}) {
      assertThat(HcrCommand.of(code)).as("opcode %x", code).isEmpty();
    }
  }

  @ParameterizedTest
  @EnumSource(
      mode = EnumSource.Mode.EXCLUDE,
      names = {"MAP_ICM", "UNMAP_ICM", "ERR2RST", "MAD_IFC"})
  void opModifierIsZero(HcrCommand command) {
    assertThat(command.opModifiers()).containsExactly(0);
    assertThat(command.allowsOpModifier(0)).isTrue();
    assertThat(command.allowsOpModifier(1)).isFalse();
    assertThat(command.allowsOpModifier(-1)).isFalse();
    assertThat(command.allowsOpModifier(32)).isFalse();
    assertThat(command.allowsOpModifier(255)).isFalse();
  }

  @Test
  void opModifiersOtherThanZero() {
    assertThat(HcrCommand.MAP_ICM.opModifiers()).isEqualTo(List.of(1, 2));
    assertThat(HcrCommand.UNMAP_ICM.opModifiers()).isEqualTo(List.of(1, 2));
    assertThat(HcrCommand.ERR2RST.opModifiers()).isEqualTo(List.of(0, 3));
    assertThat(HcrCommand.MAD_IFC.opModifiers()).isEqualTo(List.of(1));
    assertThat(HcrCommand.NO_INBOX).isEqualTo(3);
    assertThat(MapIcm.CONTEXTS).isEqualTo(1); // QPC, CQC, EQC: tables 3-2-12 and 3-2-15
    assertThat(MapIcm.TRANSLATION).isEqualTo(2); // MPT, MTT
    assertThat(HcrCommand.NOP_IN_MODIFIER).isEqualTo(0x1f); // table 3-2-44
  }

  @Test
  void inParamIsAnAddressOnlyWhereThereIsAnInbox() {
    assertThat(HcrCommand.ERR2RST.hasInbox(0)).isTrue();
    assertThat(HcrCommand.ERR2RST.hasInbox(3)).isFalse();
    assertThat(HcrCommand.MAP_ICM.hasInbox(1)).isTrue();
    assertThat(HcrCommand.WRITE_MTT.hasInbox(0)).isTrue();
    assertThat(HcrCommand.UNMAP_ICM.hasInbox(1)).isFalse();
    assertThat(HcrCommand.UNMAP_ICM.hasImmediateInput()).isTrue();
    assertThat(HcrCommand.MAP_EQ.hasImmediateInput()).isTrue();
    assertThat(HcrCommand.QUERY_QP.hasInbox(0)).isFalse();
    assertThat(HcrCommand.QUERY_QP.hasImmediateInput()).isFalse();
  }

  @Test
  void elevenCommandsAreModifyQp() {
    assertThat(Arrays.stream(HcrCommand.values()).filter(HcrCommand::isModifyQp))
        .hasSize(11)
        .allMatch(command -> command.symbol().endsWith("_QPEE"));
  }
}
