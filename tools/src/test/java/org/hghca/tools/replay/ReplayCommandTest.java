package org.hghca.tools.replay;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import org.hghca.tools.CommandLineRun;
import org.hghca.tools.ShiftedProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What {@code hghca replay} finds, and what it refuses. */
class ReplayCommandTest {
  private static final String STEPS = "--only=hcr.unknown,cq.entry,loop.send,rc.send";
  private static final Map<String, String> RUNS = new ConcurrentHashMap<>();

  @TempDir static Path shared;
  @TempDir Path folder;

  /** A run of bring-up that was recorded whole, by registers and by the driver. */
  private static String run(String profile) {
    return RUNS.computeIfAbsent(profile, name -> record("model:?profile=" + name, STEPS));
  }

  private static String record(String device, String steps) {
    String file = shared.resolve(device.replaceAll("\\W", "_")).toString();
    CommandLineRun run =
        CommandLineRun.of(
                "bringup", "-d", device, steps, "--seconds=0", "--trace=" + file + ",full")
            .assertExit(0);
    assertThat(run.err()).containsPattern("hghca: trace .*,full: \\d+ lines");
    return file;
  }

  private static CommandLineRun replay(String device, String file) {
    return CommandLineRun.of("replay", "-d", device, file);
  }

  private static void assertDiffers(CommandLineRun run, String... text) {
    assertThat(run.exitCode()).as(run.out() + run.err()).isOne();
    assertThat(run.out()).startsWith("first difference: ").contains(text);
  }

  private static void assertRefused(CommandLineRun run, String... text) {
    assertThat(run.exitCode()).as(run.out() + run.err()).isEqualTo(2);
    assertThat(run.out()).isEmpty();
    assertThat(run.err()).startsWith("hghca: ").contains(text).containsOnlyOnce("\n");
  }

  /** A copy of a run in which something is changed. */
  private String changed(String run, UnaryOperator<String> change) throws IOException {
    String whole = Files.readString(Path.of(run));
    String changed = change.apply(whole);
    assertThat(changed).isNotEqualTo(whole);
    return Files.writeString(folder.resolve("changed"), changed).toString();
  }

  @ParameterizedTest
  @ValueSource(strings = {"s", "r1", "r2"})
  void cardOfTheSameKindDoesTheSame(String profile) {
    CommandLineRun run = replay("model:other?profile=" + profile, run(profile)).assertExit(0);
    assertThat(run.out())
        .matches("no difference: \\d{3} commands, \\d{2,3} doorbells, \\d{3} CQEs\n");
  }

  @ParameterizedTest
  @ValueSource(strings = {"s", "r1", "r2"})
  void busAddressesOfTheOtherCardAreUsed(String profile) throws IOException {
    String shifted = "shifted:?profile=" + profile;
    assertThat(firstAddress(record(shifted, "--only=profile")))
        .isNotEqualTo(firstAddress(run(profile)));

    replay(shifted, run(profile)).assertExit(0);
    assertThat(ShiftedProvider.open()).isZero();
    assertThat(ShiftedProvider.wasMastering()).isFalse();
  }

  private static String firstAddress(String file) throws IOException {
    return Files.readAllLines(Path.of(file)).stream()
        .filter(line -> line.contains("\"kind\":\"map\""))
        .findFirst()
        .orElseThrow()
        .replaceAll(".*\"iova\":", "");
  }

  @ParameterizedTest
  @CsvSource({
    "s, no-cqe, 'CQE 0 of CQ 0x14', path.doorbell, 'here      none within 2.'",
    "s, cqe-wrong-qpn, 'CQE 0 of CQ 0x14', path.doorbell, my_qpn=",
    "r1, cqe-wrong-opcode, 'CQE 0 of CQ 0x10', loop.send, opcode=11 (SEND_IMM)",
    "r2, dead-doorbell, 'CQE 0 of CQ 0x10', loop.send, 'recorded  state=valid'",
    "s, cqe-duplicate, CQE 2 of CQ 0x4, rc.send, byte_cnt=1",
    "s, mailbox-stuck-bit, 'QUERY_DEV_LIM with in_modifier 0x0, outbox', dma.first, here",
    "s, short-outbox, 'QUERY_DEV_LIM with in_modifier 0x0, outbox', dma.first, extensions=none",
    "r2, init-hangs, INIT_HCA with in_modifier 0x0, hca.init, 'here      no answer: the HCR'",
    "s, other-guid, QUERY_ADAPTER, driver.open, board_id=",
    "s, lost-doorbells, CQE 35 of CQ 0x3, rc.send, 'wire has sent does not come again'",
  })
  void firstDifferenceIsNamed(
      String profile, String fault, String what, String step, String values) {
    CommandLineRun run =
        replay("shifted:?profile=%s&fault=%s".formatted(profile, fault), run(profile));

    assertDiffers(run, what, "step " + step + ")", values);
    assertThat(run.out().lines()).hasSize(3);
    assertThat(ShiftedProvider.open()).isZero();
    assertThat(ShiftedProvider.wasMastering()).isFalse();
  }

  @Test
  void otherStatusIsADifference() throws IOException {
    // An opcode that does not exist, as if the recorded card had executed it.
    String run =
        changed(
            run("s"),
            all -> all.replaceFirst("\"value\":\"0x[0-9a-f]+fff\"", "\"value\":\"0xfff\""));
    assertThat(replay("model:", run).exitCode()).isZero(); // that was the store
    String answered =
        changed(
            run("s"),
            all ->
                Pattern.compile(
                        "(\"kind\":\"load\",\"at\":\"0\\+0x80018\",\"width\":4,\"value\":\")0x2000fff")
                    .matcher(all)
                    .replaceFirst("$10xfff"));

    assertDiffers(
        replay("model:", answered),
        "opcode fffh",
        "recorded  status HGHCA_CMD_STAT_OK (0x00",
        "here      status HGHCA_CMD_STAT_BAD_OP (0x02");
  }

  @Test
  void cardThatAnswersWhereTheRecordedOneDidNotDiffers() {
    String file = shared.resolve("hang").toString();
    CommandLineRun.of(
            "bringup",
            "-d",
            "model:?fault=init-hangs",
            "--only=hca.init",
            "--limit=PT0.2S",
            "--trace=" + file + ",full")
        .assertExit(4);

    assertDiffers(
        replay("model:", file),
        "INIT_HCA",
        "recorded  no answer",
        "here      status HGHCA_CMD_STAT_OK");
    assertThat(
            CommandLineRun.of("replay", "-d", "model:?fault=init-hangs", "--limit=PT0.2S", file)
                .out())
        .startsWith("no difference");
  }

  @Test
  void programThroughTheDriverIsPlayed() {
    String file = shared.resolve("demo").toString();
    CommandLineRun.of("demo", "-d", "model:", "--seconds=0.1", "--trace=" + file + ",full")
        .assertExit(0);

    replay("shifted:", file).assertExit(0);
  }

  @Test
  void cardOfAnotherProfileIsRefused() {
    assertRefused(
        replay("model:?profile=r1", run("s")),
        "the trace is of a card of profile s, and model:?profile=r1 is of profile r1: replay it on"
            + " one of s");
    assertRefused(replay("model:?profile=r1", run("r2")), "of profile r2", "one of r2");
  }

  @Test
  void cardWithoutTheResetOfTheTraceIsRefused() {
    assertRefused(
        replay("model:?fault=no-reset", run("s")), "model:?fault=no-reset cannot be reset");
  }

  @Test
  void cutTraceIsRefused() throws IOException {
    String whole = Files.readString(Path.of(run("s")));
    String withoutEnd = whole.substring(0, whole.lastIndexOf("{\"end\""));
    for (String cut : List.of("", withoutEnd, withoutEnd.substring(0, withoutEnd.length() - 9))) {
      assertRefused(replay("model:", changed(run("s"), _ -> cut)), " is cut: ", "record it again");
    }
    // A line is missing in the middle.
    assertRefused(
        replay(
            "model:",
            changed(run("s"), all -> all.replaceFirst("\n.*\"kind\":\"close\"}\n", "\n"))),
        " is cut: ");
  }

  @Test
  void traceThatIsNotWholeIsRefused() throws IOException {
    assertRefused(
        replay(
            "model:",
            changed(
                run("s"),
                all ->
                    all.replaceFirst(
                        "\"kind\":\"close\"",
                        "\"kind\":\"lost\",\"map\":3,\"why\":\"Already closed\""))),
        "the memory of mapping 3 could not be read (Already closed)");
    Path lines = folder.resolve("t.jsonl");
    Path events = folder.resolve("t.json");
    assertThat(
            CommandLineRun.of("bringup", "-d", "model:", "--only=profile", "--trace=" + lines)
                .exitCode())
        .isZero();
    assertThat(
            CommandLineRun.of("bringup", "-d", "model:", "--only=profile", "--trace=" + events)
                .exitCode())
        .isZero();
    for (Path file : List.of(lines, events)) {
      assertRefused(
          replay("model:", file.toString()),
          file
              + " is a time line, without the memory that a replay needs: record the run with"
              + " --trace=FILE,full");
    }
  }

  @Test
  void whatIsNoTraceIsRefused() throws IOException {
    assertRefused(replay("model:", changed(run("s"), _ -> "{\"a\":1}\n")), "is no trace of hghca");
    assertRefused(replay("model:", changed(run("s"), _ -> "no\n")), "is no trace of hghca");
    assertRefused(
        replay("model:", changed(run("s"), all -> all.replaceFirst("\"trace\":1,", ""))),
        "is no trace of hghca");
    assertRefused(
        replay("model:", changed(run("s"), all -> all.replaceFirst("\"trace\":1", "\"trace\":2"))),
        "has format 2, and this hghca reads up to 1");
    assertRefused(
        replay(
            "model:",
            changed(run("s"), all -> all.replaceFirst("\"offset\":\\d+,\"bytes\"", "\"bytes\""))),
        "the trace is damaged in line ",
        "'offset' of a 'memory'");
    assertRefused(replay("model:", folder + "/none"), folder + "/none cannot be read: ");
  }

  @Test
  void traceOfTwoDevicesIsRefused() {
    String file = shared.resolve("two").toString();
    CommandLineRun.of("demo", "--seconds=0", "--trace=" + file + ",full").assertExit(0);

    assertRefused(replay("model:", file), "has 2 devices (model:", "and a replay plays one");
  }

  @Test
  void virtioIsRefusedByName() {
    String file = shared.resolve("virtio").toString();
    CommandLineRun bringup =
        CommandLineRun.of(
            "bringup", "-d", "virtio:", "--only=virtio.features", "--trace=" + file + ",full");
    assertThat(bringup.err()).contains(",full: ");

    assertRefused(replay("model:", file), file + " is the trace of a virtio device");
    assertRefused(replay("virtio:", run("s")), "virtio: is a virtio device: a replay plays cards");
  }

  @Test
  void runThatEndsBeforeTheProfileIsRefused() {
    String early = record("model:early", "--only=hcr.probe");

    assertRefused(replay("model:", early), "ends before the profile of its card was known");
  }

  @Test
  void cardThatCannotBeOpenedOrDoesNotAnswerIsNamed() {
    CommandLineRun none = replay("pci:ffff:1f:1f.7", run("s"));
    CommandLineRun dead = replay("model:?fault=all-ones", run("s"));

    assertThat(none.exitCode()).isEqualTo(3);
    assertThat(dead.exitCode()).isEqualTo(4);
    assertThat(dead.err()).contains("has no HCR that answers");
  }

  @Test
  void profileThatCannotBeDetectedIsNamed() {
    String device = "model:?profile=r1&fault=mailbox-stuck-bit";
    assertRefused(replay(device, run("r1")), "looks like neither r1 nor r2: name one by --profile");

    assertDiffers(
        CommandLineRun.of("replay", "-d", device, "--profile=r1", run("r1")), "QUERY_DEV_LIM");
  }
}
