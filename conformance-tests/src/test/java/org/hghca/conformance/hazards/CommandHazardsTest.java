package org.hghca.conformance.hazards;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.IcmChunk;
import org.hghca.abi.MapIcm;
import org.hghca.abi.ResizeCq;
import org.hghca.mailbox.CommandInterface;
import org.hghca.mailbox.UnsupportedCommandException;
import org.hghca.model.ModelProvider;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.ConnectionOptions;
import org.hghca.verbs.Errno;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpEndpoint;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QpType;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.VerbsException;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.PciFunctions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The driver never issues a command that stops the command unit of the RTL. */
class CommandHazardsTest {
  private static final Set<AccessFlag> LOCAL = Set.of(AccessFlag.LOCAL_WRITE);

  private static void toRts(OneCard card, QueuePair qp) {
    ConnectionOptions options = ConnectionOptions.DEFAULT;
    QpType type = qp.type();
    qp.modify(options.toInit(type));
    qp.modify(options.toRtr(type, new QpEndpoint(0, qp.number(), 7, card.context.queryGid(1, 0))));
    qp.modify(options.toRts(type, 7));
  }

  /** Every verb that issues a command; the next context command shows that the unit works. */
  @ParameterizedTest
  @CsvSource({"r1, RC", "r1, UC", "r1, UD", "r2, RC"})
  @Tag("hazard-2.3")
  @Tag("hazard-12.10")
  void commandUnitWorksFromOpenToClose(String profile, QpType type) {
    try (OneCard card = new OneCard(profile, "")) {
      ProtectionDomain pd = card.context.allocateProtectionDomain();
      CompletionQueue cq = card.context.createCompletionQueue(64);
      QueuePair qp = pd.createQueuePair(QueuePairConfig.of(type, cq, cq));
      assertThat(qp.query().state()).isEqualTo(QpState.RESET);
      toRts(card, qp);
      assertThat(qp.query().state()).isEqualTo(QpState.RTS);
      cq.resize(128);
      qp.modify(QpAttributes.to(QpState.ERR));
      assertThat(qp.query().state()).isEqualTo(QpState.ERR);
      qp.close();

      QueuePair next = pd.createQueuePair(QueuePairConfig.of(type, cq, cq));
      toRts(card, next);
      next.close();
      cq.close();
      card.context.createCompletionQueue(16).close();
      pd.close();
      card.assertUnharmed();
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"RC", "UC", "UD"})
  @Tag("hazard-2.3")
  void drainingIsRefusedWithoutACommand(QpType type) {
    try (OneCard card = OneCard.r1()) {
      ProtectionDomain pd = card.context.allocateProtectionDomain();
      CompletionQueue cq = card.context.createCompletionQueue(64);
      QueuePair qp = pd.createQueuePair(QueuePairConfig.of(type, cq, cq));
      toRts(card, qp);
      long before = card.hca.counters().commands();

      assertThatThrownBy(() -> qp.modify(QpAttributes.to(QpState.SQD)))
          .isInstanceOfSatisfying(
              VerbsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EOPNOTSUPP))
          .hasMessageContaining("SQD");

      assertThat(qp.state()).isEqualTo(QpState.RTS);
      assertThat(card.hca.counters().commands()).isEqualTo(before);
      qp.close();
      cq.close();
      pd.close();
      card.assertUnharmed();
    }
  }

  /** Around the maximum number of entries of one WRITE_MTT. */
  @ParameterizedTest
  @ValueSource(ints = {1, 3, 4, 254, 255, 256, 257, 509, 510, 511, 512, 600})
  @Tag("hazard-2.3")
  @Tag("hazard-12.10")
  @Tag("hazard-11.3")
  void regionsOfAnyLengthAreWrittenInParts(int pages) {
    try (OneCard card = OneCard.r1()) {
      ProtectionDomain pd = card.context.allocateProtectionDomain();
      MemoryRegion region = pd.allocate(pages * 4096L, LOCAL);
      card.context.createCompletionQueue(16).close();
      region.close();
      pd.close();
      card.assertUnharmed();
    }
  }

  private interface OnCommands {
    void run(CommandInterface commands);
  }

  /** Issues commands to a fresh card, and checks that it still works afterwards. */
  private static void withCommands(String profile, OnCommands test) {
    Locator locator = Locator.parse("model:commands?mode=inline&profile=" + profile);
    try (PciFunction function = PciFunctions.open(locator)) {
      function.configuration().enableMemorySpace();
      function.configuration().busMaster(true);
      try (CommandInterface commands =
          CommandInterface.open(function, HardwareProfile.byName(profile))) {
        test.run(commands);
        commands.nop();
        commands.hw2swCq(1);
        commands.hw2swCq(1);
        assertThat(ModelProvider.hca(locator).orElseThrow().hazards()).isEmpty();
      }
    }
  }

  private static void assertRefused(ThrowingCallable command) {
    assertThatThrownBy(command).isInstanceOf(UnsupportedCommandException.class);
  }

  @ParameterizedTest
  @ValueSource(strings = {"r1", "r2"})
  @Tag("hazard-2.3")
  @Tag("hazard-12.10")
  void commandsThatHangAreRefusedBelowTheDriverToo(String profile) {
    withCommands(
        profile,
        commands -> {
          assertRefused(() -> commands.resizeCq(1, new ResizeCq(7, 1)));
          assertRefused(() -> commands.resetQp(2));
          assertRefused(() -> commands.writeMtt(4, 256, page -> 0x10_0000));
          assertRefused(() -> commands.writeMtt(4, 0, page -> 0x10_0000));
        });
  }

  @ParameterizedTest
  @CsvSource({"r1, 2", "r1, 3", "r1, 29", "r1, 255", "r2, 2"})
  @Tag("hazard-2.3")
  @Tag("hazard-11.3")
  void mapIcmHasOneEntry(String profile, int entries) {
    List<IcmChunk> chunks =
        IntStream.range(0, entries)
            .mapToObj(i -> new IcmChunk(0x10_0000 + i * 4096L, 0x20_0000 + i * 4096L, 1))
            .toList();
    withCommands(
        profile,
        commands -> {
          assertRefused(() -> commands.mapIcm(MapIcm.CONTEXTS, chunks));
          assertRefused(() -> commands.mapIcm(MapIcm.TRANSLATION, chunks));
        });
  }

  /** The second RTL maps one page, independent of the entry. */
  @Test
  @Tag("hazard-11.3")
  void entryIsNoLongerThanTheCardTakes() {
    withCommands(
        "r2",
        commands ->
            assertRefused(
                () ->
                    commands.mapIcm(
                        MapIcm.TRANSLATION, List.of(new IcmChunk(0x10_0000, 0x20_0000, 2)))));
  }
}
