package org.hghca.model.virtio;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.hghca.model.ModelProvider;
import org.hghca.model.Simulation;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunction;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Frames through the queues of two cards on a cable. */
class NicTest {
  private static final String LEFT = "021122334401";
  private static final String RIGHT = "021122334402";
  private static final String BROADCAST = "ffffffffffff";
  private static final String GROUP = "01005e000005";
  private static final String REST = LEFT + "88b5" + "5a".repeat(46);

  private final Simulation simulation = Simulation.inline("nics");
  private final GuestDriver left = open("left", LEFT);
  private final GuestDriver right = open("right", RIGHT);

  private static GuestDriver open(String name, String mac) {
    return new GuestDriver(
        "virtio:%s?roce=none&sim=nics&cable=c&mac=%s"
            .formatted(name, mac.replaceAll("..(?!$)", "$0:")));
  }

  @AfterEach
  void close() {
    left.close();
    right.close();
    simulation.close();
  }

  private void start(long features) {
    left.start(features);
    right.start(features);
    right.listen(8);
  }

  private boolean reachesRight(String destination) {
    left.send(destination + REST);
    return !right.received().isEmpty();
  }

  @ParameterizedTest
  @ValueSource(longs = {GuestDriver.PLAIN, GuestDriver.ALL})
  void aFrameArrivesAsItWasSent(long features) {
    start(features);
    left.send(RIGHT + REST);

    assertThat(left.transmit.used()).containsExactly(new GuestDriver.Used(0, 0));
    GuestDriver.Used used = right.receive.used().getFirst();
    assertThat(used.length()).isEqualTo(12 + 60);
    assertThat(right.receive.content(used.id(), used.length()))
        .isEqualTo("00".repeat(10) + "0100" + RIGHT + REST);
    assertThat(left.card().counters().packetsSent()).isEqualTo(1);
    assertThat(right.card().counters().packetsReceived()).isEqualTo(1);
    assertThat(left.card().faults()).isEmpty();
  }

  @Test
  void headerAndFrameMayLieInSeveralBuffers() {
    start(GuestDriver.ALL);
    int header = left.transmit.buffer("00".repeat(12), GuestDriver.NEXT);
    left.transmit.buffer(RIGHT, GuestDriver.NEXT);
    left.transmit.buffer(REST, 0);
    left.transmit.offer(header);
    left.transmit.kick();

    assertThat(right.received()).containsExactly(RIGHT + REST);
  }

  @Test
  void aChainMayLieInATable() {
    start(GuestDriver.ALL);
    int header = left.transmit.buffer("00".repeat(12), 0);
    int frame = left.transmit.buffer(RIGHT + REST, 0);
    int table = left.transmit.buffer("00".repeat(32), GuestDriver.INDIRECT);
    long at = left.transmit.dataAt(table);
    left.transmit.describe(
        at, left.transmit.iova(header), 12, GuestDriver.NEXT, 1, left.transmit.memory.segment());
    left.transmit.describe(
        at + 16, left.transmit.iova(frame), 60, 0, 0, left.transmit.memory.segment());
    left.transmit.offer(table);
    left.transmit.kick();

    assertThat(right.received()).containsExactly(RIGHT + REST);
    assertThat(left.transmit.used()).containsExactly(new GuestDriver.Used(table, 0));
  }

  @Test
  void aNicTakesWhatIsForIt() {
    start(GuestDriver.ALL);

    assertThat(reachesRight(RIGHT)).isTrue();
    assertThat(reachesRight(BROADCAST)).isTrue();
    assertThat(reachesRight("021122334499")).isFalse();
    assertThat(reachesRight(GROUP)).isFalse();
  }

  @Test
  void theDriverSetsTheReceiveMode() {
    start(GuestDriver.ALL);

    assertThat(right.command("0001" + "01")).isZero(); // all multicast
    assertThat(reachesRight(GROUP)).isTrue();
    assertThat(right.command("0001" + "00")).isZero();
    assertThat(reachesRight(GROUP)).isFalse();
    assertThat(right.command("0000" + "01")).isZero(); // promiscuous
    assertThat(reachesRight("021122334499")).isTrue();
    assertThat(right.command("0000" + "00")).isZero();
    assertThat(reachesRight("021122334499")).isFalse();
    assertThat(right.command("0100" + "01000000021122334499" + "01000000" + GROUP)).isZero();
    assertThat(reachesRight(GROUP)).isTrue();
    assertThat(reachesRight("021122334499")).isTrue();
    assertThat(right.command("0100" + "00000000" + "00000000")).isZero();
    assertThat(reachesRight(GROUP)).isFalse();
    assertThat(right.card().counters().commands()).isEqualTo(6);
  }

  @Test
  void theDriverSetsTheAddress() {
    start(GuestDriver.ALL);
    assertThat(right.command("0101" + "021122334499")).isZero();
    assertThat(reachesRight("021122334499")).isTrue();
    assertThat(right.registers.readShort(GuestDriver.DEVICE + 4)).isEqualTo(0x9944);

    right.status(0);
    assertThat(right.registers.readShort(GuestDriver.DEVICE + 4)).isEqualTo(0x0244);
  }

  /** Unknown class, unknown commands, no data, data that ends early. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "0600",
        "ff00",
        "000201",
        "0102",
        "0000",
        "00",
        "",
        "0101" + "0211",
        "0100" + "01000000",
        "0100" + "00000000",
        "0100" + "ffffffff" + "00000000"
      })
  void aWrongCommandIsRefused(String command) {
    start(GuestDriver.ALL);
    assertThat(right.command(command)).isEqualTo(1);
    assertThat(right.status()).isEqualTo(15);
  }

  @Test
  void manyAddressesAreTakenAsAll() {
    start(GuestDriver.ALL);
    String table = "41000000" + GROUP.repeat(65);
    assertThat(right.command("0100" + "00000000" + table)).isZero();
    assertThat(reachesRight("01005e000099")).isTrue();
    assertThat(reachesRight("021122334499")).isFalse();
  }

  @Test
  void framesWithoutABufferAreDroppedAndCounted() {
    left.start(GuestDriver.ALL);
    right.start(GuestDriver.ALL);
    right.listen(1);
    left.send(RIGHT + REST);
    left.send(RIGHT + REST);

    assertThat(right.received()).hasSize(1);
    assertThat(right.card().counters().packetsDropped()).isEqualTo(1);
  }

  @Test
  void aBufferThatIsTooShortWaitsForAFrameThatFits() {
    left.start(GuestDriver.ALL);
    right.start(GuestDriver.ALL);
    right.receive.offer(right.receive.room(12 + 60));
    right.receive.kick();
    left.send(RIGHT + REST + "00");
    left.send(RIGHT + REST);

    assertThat(right.received()).containsExactly(RIGHT + REST);
    assertThat(right.card().counters().packetsDropped()).isEqualTo(1);
  }

  @Test
  void framesThatAskForAnOffloadAreDropped() {
    start(GuestDriver.ALL);
    for (String header : List.of("01" + "00".repeat(11), "0001" + "00".repeat(10))) {
      left.transmit.offer(left.transmit.buffer(header + RIGHT + REST, 0));
    }
    left.transmit.kick();

    assertThat(right.received()).isEmpty();
    assertThat(left.transmit.used()).hasSize(2);
    assertThat(left.card().counters().packetsDropped()).isEqualTo(2);
  }

  @Test
  void nothingHappensBeforeTheDriverIsReady() {
    start(GuestDriver.ALL);
    left.status(0);
    left.transmit.clear();
    left.negotiate(GuestDriver.ALL);
    left.transmit.enable();
    left.send(RIGHT + REST);
    assertThat(right.received()).isEmpty();

    left.status(15);
    assertThat(right.received()).hasSize(1);
  }

  @Test
  void aQueueMayBeEnabledLater() {
    left.negotiate(GuestDriver.ALL);
    left.status(15);
    right.start(GuestDriver.ALL);
    right.listen(1);
    left.transmit.enable();
    left.send(RIGHT + REST);

    assertThat(right.received()).hasSize(1);
  }

  /** Vector 0 is for the configuration, then one for each queue. */
  private static long interrupts(GuestDriver driver) {
    return driver.function.interrupts().await(0);
  }

  @Test
  void interruptsFollowTheFlag() {
    start(GuestDriver.PLAIN);
    left.send(RIGHT + REST);
    assertThat(interrupts(left)).isEqualTo(0b0100);
    assertThat(interrupts(right)).isEqualTo(0b0010);
    right.receive.availableFlags(1);
    left.send(RIGHT + REST);
    assertThat(interrupts(right)).isZero();
    assertThat(right.received()).hasSize(2);
  }

  @Test
  void interruptsFollowTheEventIndex() {
    start(GuestDriver.ALL);
    right.receive.usedEvent(1);
    left.send(RIGHT + REST);
    assertThat(interrupts(right)).isZero();
    left.send(RIGHT + REST);
    assertThat(interrupts(right)).isEqualTo(0b0010);
    left.send(RIGHT + REST);
    assertThat(interrupts(right)).isZero();
    assertThat(left.transmit.availableEvent()).isEqualTo(3);
  }

  @Test
  void theLinkGoesDownWithTheOtherEnd() {
    left.start(GuestDriver.ALL);
    left.registers.writeShort(16, 0);
    assertThat(left.registers.readShort(GuestDriver.DEVICE + 6)).isEqualTo(1);
    int generation = left.registers.readByte(21);
    right.close();

    assertThat(left.registers.readShort(GuestDriver.DEVICE + 6)).isZero();
    assertThat(left.registers.readByte(21)).isEqualTo(generation + 1);
    assertThat(interrupts(left)).isEqualTo(0b0001);
    assertThat(left.registers.readByte(0x1000)).isEqualTo(2);
    assertThat(left.registers.readByte(0x1000)).isZero();
  }

  @Test
  void theLongestFrameArrives() {
    start(GuestDriver.ALL);
    String frame = RIGHT + LEFT + "0800" + "a5".repeat(1500);
    left.send(frame);

    assertThat(right.received()).containsExactly(frame);
  }

  @Test
  void aRoceFrameArrivesAsItWasSent() {
    start(GuestDriver.ALL);
    String roce =
        RIGHT
            + LEFT
            + "0800"
            + "45000030000040004011"
            + "26bb0a0000010a000002"
            + "c00012b7001c0000"
            + "1140ffff00000012000000771f000003";
    left.send(roce + "00000000"); // a wrong invariant CRC

    assertThat(right.received()).containsExactly(roce + "00000000");
  }

  @Test
  void anRdmaCardDropsPlainFrames() {
    right.close();
    left.start(GuestDriver.ALL);
    try (PciFunction hca =
        new ModelProvider()
            .open(Locator.parse("model:hca?sim=nics&cable=c&mac=02:11:22:33:44:02"))) {
      left.send(RIGHT + REST);
      left.send(BROADCAST + REST);

      assertThat(left.card().cable().orElseThrow().counters().carried()).isEqualTo(2);
      assertThat(simulation.hca("hca").orElseThrow().counters().packetsReceived()).isZero();
      assertThat(hca.dmaFaults()).isEmpty();
    }
  }
}
