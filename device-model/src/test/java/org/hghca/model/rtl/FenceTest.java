package org.hghca.model.rtl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.model.rtl.TestPair.QPN;
import static org.hghca.model.rtl.TestPair.data;

import java.util.Set;
import org.hghca.abi.Doorbell;
import org.hghca.abi.QpcServiceType;
import org.hghca.wire.PacketPool;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which requests the fence behind a READ delays, and which not. */
class FenceTest {
  private static final int WRITE = 0x08;
  private static final int SEND = 0x0a;
  private static final int READ = 0x10;

  private final TestPair pair = new TestPair(QpcServiceType.RC);

  /** Posts a READ, and behind it a fenced request that sends the data of the READ. */
  private void post(int opcode, int length) {
    pair.b.put(0x100, "new bytes");
    pair.a.put(0x9000, "old bytes");
    pair.b.receive(QPN, data(0x8000, 8192));
    int read = pair.a.write(QPN, data(0x100, 9), data(0x9000, 9));
    int units = opcode == SEND ? 2 : 3;
    int slot = pair.a.write(QPN, opcode == SEND ? null : data(0x8000, 8), data(0x9000, length));
    pair.a.ringDoorbell(QPN, READ, read, 3);
    pair.a.doorbells.add(Doorbell.sendQueue(QPN, units, slot * 4, 1, opcode));
    pair.run();
  }

  @Test
  void sendLeavesBehindTheReadWithTheOldData() {
    post(SEND, 9);

    assertThat(pair.packets).startsWith("0c 100 00", "10 100 00", "04 101 00");
    assertThat(pair.b.text(0x8000, 9)).isEqualTo("old bytes");
    assertThat(pair.a.text(0x9000, 9)).isEqualTo("new bytes");
    assertThat(pair.a.sends(QPN)).containsExactly("10010000 00", "0a010000 00");
    assertThat(pair.a.hazards.list()).singleElement().asString().startsWith("12.15: fenced SEND");
  }

  @Test
  void sendOfManyPacketsFetchesTheOthersLater() {
    post(SEND, 3000);

    assertThat(pair.packets).startsWith("0c 100 00", "10 100 00", "00 101 00", "01 102 00");
    assertThat(pair.a.sends(QPN)).hasSize(2);
    assertThat(pair.bothPass()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(ints = {WRITE, READ})
  void otherRequestsDoNotWait(int opcode) {
    post(opcode, 8);

    assertThat(pair.packets.subList(0, 2))
        .containsExactly("0c 100 00", opcode == READ ? "0c 101 00" : "0a 101 00");
    assertThat(pair.a.hazards.list()).singleElement().asString().contains("no SEND: ignored");
  }

  @Test
  void withoutAPrecedingReadNothingWaits() {
    pair.b.receive(QPN, data(0x8000, 64));
    int slot = pair.a.write(QPN, null, data(0, 8));
    pair.a.doorbells.add(Doorbell.sendQueue(QPN, 2, slot * 4, 1, SEND));
    pair.run();

    assertThat(pair.a.sends(QPN)).containsExactly("0a010000 00");
    assertThat(pair.a.hazards.list()).isEmpty();
  }

  /** Its payload uses the channel on which the READ would be answered. */
  @Test
  void onACardThatIsItsOwnPeerALongSendWaitsForever() {
    TestCard card = new TestCard(TestPair.A, new PacketPool(), Set.of());
    card.connect(2, QpcServiceType.RC, TestPair.A, 3);
    card.connect(3, QpcServiceType.RC, TestPair.A, 2);
    card.receive(3, data(0x2_0000, 0x1_0000));
    int read = card.write(2, data(0x100, 9), data(0x9000, 9));
    int send = card.write(2, null, data(0, 0x8000));
    card.ringDoorbell(2, READ, read, 3);
    card.doorbells.add(Doorbell.sendQueue(2, 2, send * 4, 1, SEND));
    card.post(3, WRITE, data(0x9100, 8), data(0, 8));
    for (int i = 0; i < 10; i++) {
      card.engine.step(0, 256);
    }

    assertThat(card.cqes(2)).isEmpty();
    assertThat(card.cqes(3)).isEmpty();
    assertThat(card.hazards.list()).anyMatch(what -> what.contains("READs are not answered"));
  }
}
