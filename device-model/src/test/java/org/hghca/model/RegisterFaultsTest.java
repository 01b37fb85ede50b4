package org.hghca.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.time.Duration;
import org.hghca.abi.Bar;
import org.hghca.abi.DeviceLimits;
import org.hghca.abi.Hcr;
import org.hghca.abi.HcrCommand;
import org.hghca.abi.QueuePairContext;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Faults of registers, of the PCI function and of commands. */
class RegisterFaultsTest {
  private static final long HCR = Bar.HCR_DOCUMENT;

  @Test
  void deadDoorbellNeverReachesTheCard() {
    try (FaultyHost faulty = new FaultyHost("fault=dead-doorbell").bringUp()) {
      faulty.write(0, 64);
      assertThat(faulty.host.hca().counters().doorbells()).isZero();
      assertThat(faulty.isCompleted()).isFalse();
    }
  }

  @Test
  void eachThirtySeventhDoorbellIsLost() {
    try (FaultyHost faulty = new FaultyHost("fault=lost-doorbells").bringUp()) {
      for (int i = 1; i <= 80; i++) {
        faulty.write(0, 64);
        assertThat(faulty.isCompleted()).as("message %d", i).isEqualTo(i % 37 != 0);
        if (i % 37 != 0) {
          faulty.qp.cq.take();
        }
      }
    }
  }

  @Test
  void splitDoorbellIsNoDoorbell() {
    try (FaultyHost faulty = new FaultyHost("fault=split-doorbell").bringUp()) {
      faulty.write(0, 64);
      assertThat(faulty.host.hca().counters().doorbells()).isZero();
      assertThat(faulty.host.hca().faults())
          .containsExactly("a store of 4 bytes to offset 0x0 of a UAR page is dropped");
    }
  }

  @Test
  void doorbellBeforeTheCompletionOfTheLastIsLost() {
    try (FaultyHost faulty = new FaultyHost("fault=second-message-lost").bringUp()) {
      for (int i = 0; i < 3; i++) {
        faulty.write(0, 64);
        faulty.write(0, 64); // the one that is lost
        assertThat(faulty.isCompleted()).isFalse();
        faulty.advance(Duration.ofMillis(1));
        assertThat(faulty.isCompleted()).isTrue();
        faulty.qp.cq.take();
        assertThat(faulty.isCompleted()).isFalse();
      }
      assertThat(faulty.host.hca().counters().doorbells()).isEqualTo(3);
    }
  }

  @ParameterizedTest
  @CsvSource({"model, '&profile=s'", "model, '&profile=r1'", "model, '&profile=r2'", "virtio, ''"})
  void allRegistersReadAsOnes(String scheme, String profile) {
    Locator locator =
        Locator.parse("%s:ones?mode=inline&fault=all-ones%s".formatted(scheme, profile));
    try (SoftwareHca card =
        scheme.equals("virtio") ? VirtioProvider.plugIn(locator) : ModelProvider.plugIn(locator)) {
      assertThat(card.read(0, 0, 4)).isEqualTo(0xffff_ffffL);
      assertThat(card.read(0, 0x14, 1)).isEqualTo(0xff);
      assertThat(card.read(0, 0x10, 8)).isEqualTo(-1);
    }
  }

  @Test
  void registersKeepNothingWithoutAnHcr() {
    try (FaultyHost faulty = new FaultyHost("fault=no-hcr")) {
      faulty.host.bar0.writeInt(HCR + Hcr.TOKEN, 0xffff_0000);
      faulty.host.bar0.writeInt(HCR + Hcr.COMMAND, Hcr.command(HcrCommand.NOP.code(), 0));
      assertThat(faulty.host.bar0.readInt(HCR + Hcr.TOKEN)).isZero();
      assertThat(faulty.host.hca().counters().commands()).isZero();
    }
  }

  @Test
  void oneBitOfOneRegisterIsStuck() {
    try (FaultyHost faulty = new FaultyHost("fault=hcr-stuck-bit")) {
      for (int at = 0; at < Hcr.TOKEN; at += 4) {
        faulty.host.bar0.writeInt(HCR + at, -1);
        int expected = at == Hcr.IN_PARAM_LOW ? ~(1 << 13) : -1;
        assertThat(faulty.host.bar0.readInt(HCR + at)).as("register %x", at).isEqualTo(expected);
      }
    }
  }

  @Test
  void initHangsOnlyWithAMailboxAndUntilAReset() {
    try (FaultyHost faulty = new FaultyHost("fault=init-hangs")) {
      Host host = faulty.host;
      assertThat(host.command(HcrCommand.INIT_HCA.code(), 0, 0, 0, 0)).isEqualTo(3);
      Host.tables().encode(host.in());
      host.bar0.writeInt(HCR, (int) (host.inbox.iova(0) >>> 32));
      host.bar0.writeInt(HCR + 4, (int) host.inbox.iova(0));
      int command = Hcr.command(HcrCommand.INIT_HCA.code(), 0);
      host.bar0.writeInt(HCR + Hcr.COMMAND, command);
      assertThat(host.bar0.readInt(HCR + Hcr.COMMAND)).isEqualTo(command);
      host.function.reset();
      assertThat(host.bar0.readInt(HCR + Hcr.COMMAND)).isZero();
    }
  }

  @Test
  void cardWithoutDmaFetchesNoMailbox() {
    try (FaultyHost faulty = new FaultyHost("fault=no-bus-master")) {
      assertThat(faulty.host.command(HcrCommand.QUERY_DEV_LIM, 0, 0)).isEqualTo(3);
      assertThat(faulty.host.hca().faults().getFirst()).contains("while bus mastering is off");
    }
  }

  @ParameterizedTest
  @CsvSource({"small-bar2, 16384", "large-bar2, 16777216", "no-cqe, 8388608"})
  void sizeOfBar2(String fault, long bytes) {
    try (FaultyHost faulty = new FaultyHost("fault=" + fault)) {
      assertThat(faulty.host.bar2.size()).isEqualTo(bytes);
    }
  }

  @ParameterizedTest
  @CsvSource({"one-vector, 1", "no-cqe, 32"})
  void numberOfVectors(String fault, int vectors) {
    try (FaultyHost faulty = new FaultyHost("fault=" + fault)) {
      assertThat(faulty.host.function.interrupts().vectors()).isEqualTo(vectors);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"s", "r1", "r2"})
  void functionWithoutResetHasNone(String profile) {
    try (PciFunction function =
        new ModelProvider()
            .open(Locator.parse("model:n?mode=inline&fault=no-reset&profile=" + profile))) {
      assertThatThrownBy(function::reset).hasMessageContaining("reset");
    }
  }

  @Test
  void bitOfAnswersIsStuck() {
    try (FaultyHost faulty = new FaultyHost("fault=mailbox-stuck-bit")) {
      faulty.host.must(HcrCommand.QUERY_ADAPTER, 0, 0);
      var bigEndian = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
      for (int at = 0; at < 24; at += 4) {
        assertThat(faulty.answer().get(bigEndian, at)).isEqualTo(1 << 20);
      }
      assertThat(faulty.answer().get(bigEndian, 24)).isEqualTo(0x0133_4567);
      assertThat(faulty.answer().get(bigEndian, 32)).as("behind it").isZero();
    }
  }

  @Test
  void bytesOfAnswersAreSwapped() {
    try (FaultyHost faulty = new FaultyHost("fault=mailbox-swapped")) {
      faulty.host.must(HcrCommand.QUERY_ADAPTER, 0, 0);
      assertThat(CommandTest.hex(faulty.answer(), 32))
          .isEqualTo("00".repeat(24) + "67452301efcdab89");
    }
  }

  @Test
  void answersAreShort() {
    try (FaultyHost faulty = new FaultyHost("fault=short-outbox")) {
      faulty.answer().fill((byte) 0xee);
      faulty.host.must(HcrCommand.QUERY_ADAPTER, 0, 0);
      assertThat(CommandTest.hex(faulty.answer(), 33)).isEqualTo("00".repeat(24) + "ee".repeat(9));
    }
  }

  @ParameterizedTest
  @CsvSource({"impossible-limits, 200, 13", "small-limits, 6, 6", "no-cqe, 14, 13"})
  void limits(String fault, int logQps, int logCqs) {
    try (FaultyHost faulty = new FaultyHost("fault=" + fault)) {
      faulty.host.must(HcrCommand.QUERY_DEV_LIM, 0, 0);
      assertThat(DeviceLimits.MAX_QPS.get(faulty.answer())).isEqualTo(logQps);
      assertThat(DeviceLimits.MAX_CQS.get(faulty.answer())).isEqualTo(logCqs);
    }
  }

  @Test
  void boardIsAnother() {
    try (FaultyHost faulty = new FaultyHost("fault=other-guid")) {
      faulty.host.must(HcrCommand.QUERY_ADAPTER, 0, 0);
      assertThat(CommandTest.hex(faulty.answer(), 32))
          .isEqualTo("00".repeat(24) + "fedcba9876543210");
      faulty.host.must(HcrCommand.QUERY_DEV_LIM, 0, 0);
      assertThat(DeviceLimits.MAX_QPS.get(faulty.answer())).isEqualTo(14);
    }
  }

  @Test
  void slowCommandsEndLate() {
    try (FaultyHost faulty = new FaultyHost("fault=slow-commands")) {
      long begin = System.nanoTime();
      for (int i = 0; i < 5; i++) {
        faulty.host.must(HcrCommand.NOP, 0, 0x1f);
      }
      assertThat(System.nanoTime() - begin).isGreaterThan(5_000_000);
      faulty.bringUp();
      faulty.write(0, 64);
      assertThat(faulty.isCompleted()).isTrue();
    }
  }

  /** Two contexts of queue pairs, in pages that are one page to the card. */
  @Test
  void pagesOfContextMemoryAreTheSame() {
    try (FaultyHost faulty = new FaultyHost("fault=icm-aliased").bringUp()) {
      Host.Qp low = faulty.host.qp();
      low.modify(HcrCommand.RST2INIT, 1);
      assertThat(low.query().get(QueuePairContext.QKEY)).isZero();
      new QueuePairContext()
          .set(QueuePairContext.STATE, 1)
          .set(QueuePairContext.QKEY, 77)
          .encode(faulty.host.in());
      faulty.host.must(HcrCommand.RST2INIT, 0, low.number + 16);
      assertThat(low.query().get(QueuePairContext.QKEY)).isEqualTo(77);
    }
  }
}
