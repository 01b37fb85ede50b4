package org.hghca.wire;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PacketOpcodeTest {

  @ParameterizedTest
  @CsvSource({
    "0x00, RC_SEND_FIRST",
    "0x0b, RC_WRITE_ONLY_IMM",
    "0x11, RC_ACKNOWLEDGE",
    "0x17, RC_SEND_ONLY_INVALIDATE",
    "0x2a, UC_WRITE_ONLY",
    "0x64, UD_SEND_ONLY",
    "0x81, CNP",
    "0x18, 0x18",
    "0x44, 0x44",
    "0xff, 0xff"
  })
  void opcodesHaveNames(String opcode, String name) {
    assertThat(PacketOpcode.text(Integer.decode(opcode))).isEqualTo(name);
  }
}
