package org.hghca.conformance.rtl;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.hghca.conformance.abi.Vectors;
import org.hghca.model.rtl.r1.Defect;
import org.hghca.wire.PacketPool;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The unexpected behaviour of the RTL, as recorded, replayed on its model: the same packets in each
 * direction, the same completions, the same writes. For two cycle-dependent cases, the model
 * without cycles replays each on request.
 */
class FindingReplayTest {
  private static final List<String> FILES =
      List.of(
          "r1_receive_cqe_dword6.json",
          "r2_empty_receive.json",
          "r3_chain_order.json",
          "r4_fence.json",
          "r4_fence_deadlock.json",
          "r5_send_cqe_dword2.json",
          "r8_uc_bad_key.json",
          "r9_read_enqueue_race.json",
          "r9_write_enqueue_race.json",
          "r10_psn_ffffff.json",
          "r11_refused_read.json");
  private static final String ENDING = "r7_err_during_traffic.json";

  private static final Pattern WRITE =
      Pattern.compile("t=\\d+ c(\\d) DMAWR dt addr=(\\w+) len=(\\d+)[^=]* data=(\\w+).*");
  private static final Pattern READ =
      Pattern.compile("t=\\d+ c(\\d) DMARD wqe addr=(\\w+) len=(\\d+)");
  private static final Pattern PACKET =
      Pattern.compile("t=\\d+ c(\\d) PACKET opcode=(\\w+) .* first beat (\\w+)");
  private static final Pattern SOME_CYCLES = Pattern.compile("(\\d{1,3}) cycles");

  private static final Pattern QUERY =
      Pattern.compile(
          "QUERY_QP after the stimulus, card (\\d) QP (\\d): status 0, state nibble .* (\\d)");

  /** Of a first beat with a READ request, whose other bytes are what an earlier packet left. */
  private static final int READ_HEADER = 56;

  private static final long REMOTE_PAGES = 0x120_0000;

  /** One case of a recording. */
  record Finding(String file, List<Map<?, ?>> setup, Map<?, ?> recorded) {
    String name() {
      return Vectors.text(recorded, "name");
    }

    List<Map<?, ?>> stimulus() {
      return objects(recorded.get("stimulus"));
    }

    List<String> observed() {
      return Vectors.list(recorded.get("observed")).stream().map(String.class::cast).toList();
    }

    int cards() {
      return (Integer) recorded.get("cards");
    }

    /** Whether the card does not become quiet any more: a part of what it did was recorded. */
    boolean isEndless() {
      return recorded.get("never_came") instanceof String text && text.contains("instead");
    }

    /** Whether the request is posted in the cycle that corrupts the list. */
    boolean races() {
      return name().startsWith("f9(113") || name().startsWith("f9w(207");
    }

    @Override
    public String toString() {
      return name();
    }
  }

  private static List<Map<?, ?>> objects(Object list) {
    return Vectors.list(list).stream().<Map<?, ?>>map(element -> (Map<?, ?>) element).toList();
  }

  private static List<Finding> load(String file) {
    Map<?, ?> recording = Vectors.loadObject(file);
    return objects(recording.get("cases")).stream()
        .map(recorded -> new Finding(file, setup(recording, recorded), recorded))
        .toList();
  }

  private static List<Map<?, ?>> setup(Map<?, ?> recording, Map<?, ?> recorded) {
    List<Map<?, ?>> setup = new ArrayList<>(objects(recording.get("setup")));
    if (recorded.get("setup_instead") instanceof Map<?, ?> instead) {
      for (Object replaced : Vectors.list(instead.values().iterator().next())) {
        List<?> parts = Vectors.list(replaced);
        setup.set((Integer) parts.getFirst(), (Map<?, ?>) parts.get(1));
      }
    }
    return setup;
  }

  private static Stream<Finding> all() {
    return FILES.stream().flatMap(file -> load(file).stream());
  }

  static Stream<Finding> findings() {
    return all().filter(finding -> !finding.isEndless());
  }

  static Stream<Finding> floods() {
    return all().filter(Finding::isEndless).filter(finding -> finding.file().startsWith("r10"));
  }

  private List<ReplayedCard> cards;

  private void setUp(Finding finding) {
    Set<Defect> defects =
        finding.races() ? EnumSet.of(Defect.ENQUEUE_RACE) : EnumSet.noneOf(Defect.class);
    PacketPool pool = new PacketPool();
    cards = new ArrayList<>();
    for (int i = 0; i < finding.cards(); i++) {
      cards.add(new ReplayedCard(defects, i, pool));
    }
    ReplayedCard.join(cards.getFirst(), cards.getLast());
    finding.setup().forEach(command -> card(command).run(command));
    cards.forEach(card -> card.memory.accesses.clear());
    fill(finding);
  }

  private ReplayedCard card(Map<?, ?> of) {
    return cards.get((Integer) of.get("card"));
  }

  /** The payload of each message, as in the files: that of message k starts with 3 + 31 k. */
  private void fill(Finding finding) {
    if (finding.file().startsWith("r4")) {
      pattern(cards.getLast(), REMOTE_PAGES, 1024, 1);
      cards.getFirst().put(ReplayedCard.DATA, "ee".repeat(1024));
      return;
    }
    int number = 0;
    for (Map<?, ?> written : finding.stimulus()) {
      if (written.get("memory") instanceof String label && label.startsWith("sq_wqe")) {
        boolean sameData = finding.file().startsWith("r5");
        boolean other = finding.file().equals(ENDING) && number == 1;
        fill(Vectors.text(written, "data"), sameData ? 0 : other ? 9 : number);
        number++;
      }
    }
  }

  private void fill(String wqe, int number) {
    byte[] bytes = HexFormat.of().parseHex(wqe);
    int unit = bytes.length - 16;
    int length = little(bytes, unit, 4);
    pattern(cards.getFirst(), ReplayedCard.DATA + little(bytes, unit + 8, 4), length, number);
    if (bytes.length == 48 && cards.size() == 2) {
      // The data of a READ; a WRITE overwrites it.
      pattern(cards.getLast(), REMOTE_PAGES + little(bytes, 16, 4), length, number);
    }
  }

  private static int little(byte[] bytes, int at, int count) {
    int value = 0;
    for (int i = count - 1; i >= 0; i--) {
      value = value << 8 | bytes[at + i] & 0xff;
    }
    return value;
  }

  private static void pattern(ReplayedCard card, long address, int length, int number) {
    for (int i = 0; i < length; i++) {
      card.memory.bytes.set(ValueLayout.JAVA_BYTE, address + i, (byte) (7 * i + 3 + 31 * number));
    }
  }

  private void play(Map<?, ?> stimulus) {
    if (stimulus.get("memory") != null) {
      card(stimulus)
          .put(Vectors.longNumber(Vectors.text(stimulus, "addr")), Vectors.text(stimulus, "data"));
    } else if (stimulus.get("doorbell") != null) {
      card(stimulus).ringDoorbell(Vectors.text(stimulus, "doorbell"));
    } else if (stimulus.get("command") != null) {
      card(stimulus).run(stimulus);
    } else if (stimulus.get("run") instanceof String time) {
      if (SOME_CYCLES.matcher(time).matches()) {
        cards.getFirst().card.step(0); // it has sent, and received nothing
      } else {
        rest();
      }
    }
  }

  private void rest() {
    boolean worked = true;
    while (worked) {
      worked = false;
      for (ReplayedCard card : cards) {
        worked |= card.card.step(0);
      }
    }
  }

  @Test
  void allFindingsAreReplayed() {
    assertThat(findings()).hasSize(24);
    assertThat(floods()).hasSize(3);
    assertThat(load(ENDING)).hasSize(2);
  }

  @ParameterizedTest
  @MethodSource("findings")
  void findingIsReplayedAsRecorded(Finding finding) {
    setUp(finding);
    finding.stimulus().forEach(this::play);

    for (int i = 0; i < cards.size(); i++) {
      ReplayedCard card = cards.get(i);
      assertThat(card.requests).as("requests").isEqualTo(packets(finding, i, false));
      assertThat(card.answers).as("answers").isEqualTo(packets(finding, i, true));
      assertThat(card.writes()).as("writes").isEqualTo(writes(finding, i));
      assertThat(card.queueReads()).as("WQEs").isEqualTo(queueReads(finding, i));
      checkCompletions(finding, i);
    }
    checkStates(finding);
  }

  /** The CQEs that were recorded are the first ones of a sequence that does not end. */
  @ParameterizedTest
  @MethodSource("floods")
  void completionsWithoutEndBeginAsRecorded(Finding finding) {
    setUp(finding);
    finding.stimulus().forEach(this::play);

    for (int i = 0; i < cards.size(); i++) {
      ReplayedCard card = cards.get(i);
      assertThat(card.requests).as("requests").isEqualTo(packets(finding, i, false));
      assertThat(card.answers).as("answers").isEqualTo(packets(finding, i, true));
      assertThat(card.writes()).as("writes").isEqualTo(writes(finding, i));
      assertThat(card.queueReads()).as("WQEs").containsAll(queueReads(finding, i));
    }
    ReplayedCard card = cards.getFirst();
    List<?> shown = Vectors.list(((Map<?, ?>) finding.recorded().get("cqes_card0")).get("cqn1"));
    List<String> written = ReplayedCard.CompletionRings.writes(card, 1);
    assertThat(written.subList(0, shown.size())).isEqualTo(shown);
    card.card.step(0);
    assertThat(ReplayedCard.CompletionRings.writes(card, 1)).hasSizeGreaterThan(written.size());
    assertThat(ReplayedCard.CompletionRings.writes(card, 3)).isEmpty();
    checkCompletions(finding, 1);
    checkStates(finding);
    assertThat(card.card.hazards()).singleElement().asString().startsWith("12.21: ");
  }

  /** The card of the peer stops with the first packet of zeros, here. */
  @Test
  void refusedReadSendsZerosAsRecorded() {
    Finding finding = load("r11_refused_read.json").get(1);
    setUp(finding);
    finding.stimulus().forEach(this::play);

    ReplayedCard card = cards.getFirst();
    List<String> recorded = packets(finding, 0, false);
    assertThat(card.requests.subList(0, recorded.size())).isEqualTo(recorded);
    assertThat(cards.getLast().answers).isEqualTo(packets(finding, 1, true).subList(0, 2));
    checkCompletions(finding, 0);
    assertThat(card.queriedState("2")).isEqualTo("3");
    assertThat(cards.getLast().queriedState("3")).isEqualTo("6");
    for (ReplayedCard each : cards) {
      assertThat(each.writes()).isEmpty();
      assertThat(each.card.hazards()).singleElement().asString().startsWith("12.6: ");
    }
  }

  private void checkStates(Finding finding) {
    for (Object line : Vectors.list(finding.recorded().get("data"))) {
      Matcher query = QUERY.matcher((String) line);
      if (query.matches()) {
        ReplayedCard card = cards.get(Integer.parseInt(query.group(1)));
        assertThat(card.queriedState(query.group(2))).as("%s", line).isEqualTo(query.group(3));
      }
    }
  }

  /** MODIFY_QP comes when the packets of 8448 bytes have left and were acknowledged. */
  @Test
  void errDuringAMessageStopsTheSendSide() {
    Finding finding = load(ENDING).getFirst();
    setUp(finding);
    List<Map<?, ?>> stimulus = finding.stimulus();
    ReplayedCard card = cards.getFirst();
    play(stimulus.get(0));
    card.card.stallAfter(8448 / 256);
    play(stimulus.get(1));
    rest();
    play(stimulus.get(3));
    card.card.stallAfter(-1);
    rest();
    stimulus.subList(5, 7).forEach(this::play);
    rest();

    assertThat(card.writes()).startsWith(writes(finding, 0).toArray(String[]::new)).hasSize(33);
    checkCompletions(finding, 0);
    assertThat(card.card.hazards()).singleElement().asString().startsWith("12.17: ");
  }

  /** MODIFY_QP comes when the first packets have left and none was acknowledged. */
  @Test
  void errBeforeTheFirstAcknowledgementIsTooLate() {
    Finding finding = load(ENDING).get(1);
    setUp(finding);
    List<Map<?, ?>> stimulus = finding.stimulus();
    ReplayedCard card = cards.getFirst();
    play(stimulus.get(0));
    card.card.stallAfter(3);
    play(stimulus.get(1));
    card.start(stimulus.get(3));
    card.card.step(0);
    card.check(stimulus.get(3));
    card.card.stallAfter(-1);
    rest();
    stimulus.subList(5, 7).forEach(this::play);
    rest();

    assertThat(card.writes()).startsWith(writes(finding, 0).toArray(String[]::new));
    checkCompletions(finding, 0);
    assertThat(card.card.hazards()).isEmpty();
  }

  private void checkCompletions(Finding finding, int card) {
    Map<?, ?> completions = (Map<?, ?>) finding.recorded().get("cqes_card" + card);
    for (int cqn = 1; cqn <= 4; cqn++) {
      Object recorded = completions.get("cqn" + cqn);
      assertThat(ReplayedCard.CompletionRings.written(cards.get(card), cqn))
          .as("CQ %d", cqn)
          .isEqualTo(recorded == null ? List.of() : recorded);
    }
  }

  private static List<String> packets(Finding finding, int card, boolean answers) {
    List<String> beats = new ArrayList<>();
    for (String line : finding.observed()) {
      Matcher packet = PACKET.matcher(line);
      if (packet.matches() && packet.group(1).equals("" + card)) {
        int opcode = Vectors.number(packet.group(2)) & 0x1f;
        if (answers == (opcode >= 0x0d && opcode <= 0x12)) {
          String beat = packet.group(3);
          beats.add(opcode == 0x0c ? beat.substring(0, READ_HEADER) + "00000000" : beat);
        }
      }
    }
    return beats;
  }

  private static List<String> writes(Finding finding, int card) {
    List<String> writes = new ArrayList<>();
    for (String line : finding.observed()) {
      Matcher write = WRITE.matcher(line);
      if (write.matches() && write.group(1).equals("" + card)) {
        writes.add("%s %s %.32s".formatted(write.group(2), write.group(3), write.group(4)));
      }
    }
    return writes;
  }

  private static List<String> queueReads(Finding finding, int card) {
    List<String> reads = new ArrayList<>();
    for (String line : finding.observed()) {
      Matcher read = READ.matcher(line);
      if (read.matches() && read.group(1).equals("" + card)) {
        reads.add("%s %s".formatted(read.group(2), read.group(3)));
      }
    }
    return reads.stream().sorted().toList();
  }
}
