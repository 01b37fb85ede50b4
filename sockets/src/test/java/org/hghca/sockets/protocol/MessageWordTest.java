package org.hghca.sockets.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class MessageWordTest {
  @Test
  void hasTheNumbersOfTheProtocol() {
    assertThat(MessageWord.ofData(1000)).isEqualTo(1000);
    assertThat(MessageWord.ofGrant(0x1_0180)).isEqualTo(0x8000_0180);
    assertThat(MessageWord.ofControl(MessageWord.DISCONNECT)).isEqualTo(0xe000_0000);
    assertThat(MessageWord.ofControl(MessageWord.SHUTDOWN)).isEqualTo(0xe000_0002);
  }

  @Test
  void readsOperationAndData() {
    assertThat(MessageWord.op(0xc000_0005)).isEqualTo(MessageWord.IOMAP);
    assertThat(MessageWord.op(0x1fff_ffff)).isEqualTo(MessageWord.DATA);
    assertThat(MessageWord.data(0x1fff_ffff)).isEqualTo(MessageWord.MAX_BYTES);
    assertThat(MessageWord.data(0xe000_0002)).isEqualTo(MessageWord.SHUTDOWN);
  }

  @Test
  void aLimitHasSixteenBitsThoughThePeerMaySetMore() {
    assertThat(MessageWord.limit(0x8001_017f)).isEqualTo(0x017f);
  }
}
