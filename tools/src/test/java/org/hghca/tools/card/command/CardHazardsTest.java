package org.hghca.tools.card.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.hghca.abi.DeviceLimits;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.MailboxField;
import org.hghca.abi.QpcState;
import org.hghca.abi.QueuePairContext;
import org.hghca.mailbox.CommandInterface;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.PciFunctions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code hghca card} on each profile: what it refuses, and what the card answers. */
class CardHazardsTest {
  private static final int STATUS_BAD_PARAM = 3;

  @TempDir Path folder;

  private List<Map<String, Object>> json(String device, String... lines) {
    return CardScript.json(folder, device, lines);
  }

  /** Often enough to stop a card of the RTL. */
  private static String[] thenProbe(String line) {
    List<String> lines = new ArrayList<>(Collections.nCopies(8, line));
    lines.add("probe");
    return lines.toArray(String[]::new);
  }

  @ParameterizedTest
  @CsvSource({
    "reg read 0+0x10000, does not answer from 0x10000 to 0x9ffff",
    "reg write 0+0x80014 0, does not answer from 0x10000 to 0x9ffff",
    "reg read 0+0xf0010, does not answer from 0x10000 to 0x9ffff",
    "reg read 2+0, never answers a read of BAR2",
    "reg read 2+0 64, never answers a read of BAR2",
    "reg write 2+0 0, rings a doorbell",
    "reg read 4+0, registers in BAR0 only",
    "reg read 0+0 64, takes 32 bits only",
    "reg write 0+0 0 8, takes 32 bits only",
    "reg write 0+0 0 16, takes 32 bits only",
    "reg write 0+0 0 64, takes 32 bits only",
    "reg write 0+0x18 0x00800003, bit 23 is go"
  })
  void accessThatCanStopTheRtlIsRefused(String line, String why) {
    for (String profile : List.of("s", "r1", "r2")) {
      List<Map<String, Object>> all = json("model:c?profile=" + profile, thenProbe(line));

      assertThat(all.subList(0, 8))
          .allSatisfy(
              reply ->
                  assertThat(reply)
                      .containsEntry("ok", false)
                      .extractingByKey("error")
                      .asString()
                      .contains(why, "--unsafe does it"));
      assertThat(all.getLast()).as(profile).containsEntry("ok", true);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"reg read 0+0x10000 --unsafe", "reg write 0+0x10000 0 --unsafe"})
  void unsafeAccessReachesTheCard(String line) {
    List<Map<String, Object>> all = json("model:c?profile=r1", thenProbe(line));

    assertThat(all.getFirst()).containsEntry("ok", true);
    assertThat(all.getLast()).containsEntry("ok", false);
    assertThat(all.getLast().get("error").toString()).contains("reads all ones");
  }

  @Test
  void unsafeWriteOfGoGivesACommand() {
    Map<String, Object> dword =
        json(
                "model:c?profile=r1",
                "probe",
                "init",
                "reg write 0+0x18 0x00800003 --unsafe",
                "hcr QUERY_ADAPTER")
            .get(3);

    assertThat(dword).containsEntry("ok", true).containsEntry("opcode", "QUERY_ADAPTER");
  }

  @Test
  void cardOfTheDocumentAllowsAllAccessesOnceItIsKnown() {
    List<Map<String, Object>> all =
        json(
            "model:c",
            "probe",
            "reg read 0+0x80018",
            "reg read 0+0x10000",
            "reg read 0+0xf0010",
            "reg read 4+0");

    assertThat(all).extracting("ok").doesNotContain(false);
  }

  /** A MAP_ICM inbox of that many entries, all of them zero. */
  private static String mapIcm(int entries) {
    return "hcr MAP_ICM op_modifier=1 in_modifier=%d --in %s"
        .formatted(entries, "00".repeat((entries + 1) / 2 * 32));
  }

  private static List<String> hanging() {
    String context = "00".repeat(192);
    return List.of(
        "hcr ERR2RST op_modifier=3 in_modifier=5",
        "hcr ANY2ERR op_modifier=2 in_modifier=5 --in " + context,
        "hcr RESIZE_CQ in_modifier=3 --in " + "00".repeat(32),
        "hcr 2ch in_modifier=3 --in " + "00".repeat(32),
        "hcr QUERY_QP in_modifier=4000",
        "hcr WRITE_MTT in_modifier=256 --in " + "00".repeat(2080),
        "hcr WRITE_MTT in_modifier=0 --in " + "00".repeat(32),
        mapIcm(2),
        mapIcm(40),
        "hcr SW2HW_MPT in_modifier=4000 --in " + "00".repeat(64),
        "hcr HW2SW_MPT in_modifier=4000",
        "hcr WRITE_MTT in_modifier=1 --in "
            + "00".repeat(24)
            + "0000000000010000"
            + "00".repeat(32));
  }

  @ParameterizedTest
  @ValueSource(strings = {"r1", "r2"})
  void commandThatCanStopTheCardIsRefusedWithItsLine(String profile) {
    List<String> lines = new ArrayList<>(List.of("hcr QUERY_QP in_modifier=5", "init"));
    lines.addAll(hanging());
    lines.add("hcr HW2SW_CQ in_modifier=3");
    lines.add("hcr QUERY_ADAPTER");
    List<Map<String, Object>> all =
        json("model:c?profile=" + profile, lines.toArray(String[]::new));

    assertThat(all.getFirst().get("error").toString())
        .contains("r1 or r2: QUERY_QP without mapped page, or before INIT_HCA: hangs");
    for (Map<String, Object> reply : all.subList(2, all.size() - 2)) {
      assertThat(reply).containsEntry("ok", false).doesNotContainKey("status");
      assertThat(reply.get("error").toString())
          .contains("is not given to a card of profile " + profile)
          .contains("docs/hardware.md")
          .endsWith("--unsafe gives it");
    }
    assertThat(all.subList(all.size() - 2, all.size())).extracting("ok").doesNotContain(false);
  }

  @Test
  void cardOfTheDocumentIsGivenThem() {
    List<String> lines = new ArrayList<>(List.of("init"));
    lines.addAll(hanging());
    List<Map<String, Object>> all = json("model:c", lines.toArray(String[]::new));

    assertThat(all.subList(1, all.size()))
        .allSatisfy(
            reply -> assertThat(String.valueOf(reply.get("error"))).doesNotContain("is not given"));
  }

  @Test
  void unsafeCommandStopsTheCard() {
    List<Map<String, Object>> all =
        json(
            "model:c?profile=r1",
            "init",
            "hcr ERR2RST op_modifier=3 in_modifier=5 --unsafe",
            "hcr QUERY_QP in_modifier=5");

    assertThat(all).extracting("ok").containsExactly(true, true, false);
    assertThat(all.getLast().get("error").toString()).contains("did not end opcode 022h");
  }

  @ParameterizedTest
  @ValueSource(strings = {"s", "r1", "r2"})
  void limitsAreThoseOfTheLibrary(String profile) {
    String device = "model:c?profile=" + profile;
    MemorySegment expected = MemorySegment.ofArray(new byte[DeviceLimits.LAYOUT.size()]);
    try (PciFunction function = PciFunctions.open(Locator.parse(device))) {
      function.configuration().enableMemorySpace();
      function.configuration().busMaster(true);
      try (CommandInterface commands =
          CommandInterface.open(
              function, HardwareProfile.byName(profile), Duration.ofSeconds(10))) {
        commands.queryDeviceLimits().encode(expected);
      }
    }

    Map<String, Object> reply = json(device, "hcr query_dev_lim").getFirst();
    assertThat(reply).containsEntry("profile", profile);
    Map<?, ?> fields = (Map<?, ?>) ((Map<?, ?>) reply.get("outbox")).get("fields");
    for (MailboxField field : DeviceLimits.LAYOUT.fields()) {
      assertThat(((Number) fields.get(field.name())).longValue())
          .as(field.name())
          .isEqualTo(field.getLong(expected));
    }
  }

  @Test
  void missingMailboxIsTheCardsToRefuse() {
    assertThat(json("model:c", "hcr INIT_HCA --unsafe").getFirst())
        .containsEntry("ok", false)
        .containsEntry("status", STATUS_BAD_PARAM)
        .containsEntry("status_name", "BAD_PARAM");
  }

  private static String rst2init(int qpn) {
    byte[] bytes = new byte[QueuePairContext.LAYOUT.size()];
    new QueuePairContext()
        .set(QueuePairContext.STATE, QpcState.INIT)
        .set(QueuePairContext.LOCAL_QPN, qpn)
        .set(QueuePairContext.PD, 7)
        .set(QueuePairContext.NEXT_SEND_PSN, 0x123)
        .encode(MemorySegment.ofArray(bytes));
    return "hcr RST2INIT in_modifier=%d --in %s".formatted(qpn, HexFormat.of().formatHex(bytes));
  }

  private List<Map<String, Object>> dumps(String profile) {
    return json(
        "model:c?profile=" + profile, "init", rst2init(5), "dump qp 5", "dump qp 6", "dump cq 3");
  }

  @Test
  void dumpHasWhatTheCardSaysBesideWhatWasSent() {
    List<Map<String, Object>> all = dumps("s");

    assertThat(all).extracting("ok").doesNotContain(false);
    Map<?, ?> card = (Map<?, ?>) all.get(2).get("card");
    Map<?, ?> driver = (Map<?, ?>) all.get(2).get("driver");
    assertThat(driver.get("command")).isEqualTo("RST2INIT");
    for (String name : List.of("state", "local_qpn", "pd", "next_send_psn")) {
      assertThat(card.get(name)).as(name).isEqualTo(driver.get(name)).isNotEqualTo(0);
    }
    assertThat(all.get(3)).containsEntry("driver", "nothing sent by this session");
    assertThat(all.get(4).get("card").toString()).startsWith("not known: no command returns its");
  }

  @Test
  void dumpOfTheFirstRtlHasOnlyWhatIsTrue() {
    Map<?, ?> card = (Map<?, ?>) dumps("r1").get(2).get("card");

    assertThat(card.get("state")).isEqualTo(QpcState.INIT);
    assertThat(card.get("pd")).isEqualTo(7);
    assertThat(card.get("next_send_psn").toString()).startsWith("not known: no packet");
    assertThat(card.get("next_recv_psn").toString()).startsWith("not known: no packet");
    assertThat(card.containsKey("local_qpn")).isFalse();
    assertThat(card.containsKey("srqn")).isFalse();
  }

  @Test
  void dumpOfTheSecondRtlAsksNothing() {
    Map<String, Object> dump = dumps("r2").get(2);

    assertThat(dump.get("card").toString())
        .startsWith("not known: QUERY_QP of profile r2 answers nothing usable");
    assertThat(((Map<?, ?>) dump.get("driver")).get("pd")).isEqualTo(7);
  }

  @Test
  void dumpOfAPageThatIsNotMappedDoesNotAskTheRtl() {
    List<Map<String, Object>> all = json("model:c?profile=r1", "init", "dump qp 900", "dump qp 5");

    assertThat(all).extracting("ok").doesNotContain(false);
    assertThat(all.get(1).get("card").toString()).contains("would hang");
  }

  @Test
  void resetForgetsWhatWasSent() {
    List<Map<String, Object>> all =
        json("model:c?profile=r1", "init", rst2init(5), "init", "dump qp 5");

    assertThat(all.getLast()).containsEntry("driver", "nothing sent by this session");
  }
}
