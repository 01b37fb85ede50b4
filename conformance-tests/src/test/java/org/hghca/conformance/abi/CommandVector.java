package org.hghca.conformance.abi;

import java.lang.foreign.MemorySegment;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * One recorded command.
 *
 * @param id file and position in it
 * @param name as recorded
 * @param op three digits
 * @param opModifier two digits
 * @param inModifier eight digits
 * @param inParam sixteen digits
 * @param outParam sixteen digits
 * @param status two digits
 * @param inbox bytes at in_param, empty where none were recorded
 * @param outbox bytes at out_param with guard bytes behind them, empty where none were recorded
 * @param trace DMA and messages between the card's units
 */
public record CommandVector(
    String id,
    String name,
    String op,
    String opModifier,
    String inModifier,
    String inParam,
    String outParam,
    String status,
    String inbox,
    String outbox,
    List<String> trace) {
  private static final Pattern INBOX_READ = Pattern.compile("DMARD ceu addr=100000 len=(\\d+)");
  private static final Pattern OUTBOX_WRITE =
      Pattern.compile("DMAWR ceu addr=110000 len=(\\d+) first.*");

  public static List<CommandVector> load(String file) {
    List<Map<?, ?>> objects = Vectors.loadObjects(file);
    return IntStream.range(0, objects.size())
        .mapToObj(i -> of(file + " #" + i, objects.get(i)))
        .toList();
  }

  static Stream<CommandVector> all() {
    return Stream.of("stage1_ceu_basic.json", "stage1_ceu_sequence.json", "stage1_v2p_map.json")
        .flatMap(file -> load(file).stream());
  }

  private static CommandVector of(String id, Map<?, ?> object) {
    return new CommandVector(
        id,
        Vectors.text(object, "name"),
        Vectors.text(object, "op"),
        Vectors.text(object, "op_modifier"),
        Vectors.text(object, "in_modifier"),
        Vectors.text(object, "in_param"),
        Vectors.text(object, "out_param"),
        Vectors.text(object, "status"),
        object.get("inbox") instanceof String inbox ? inbox : "",
        object.get("outbox") instanceof String outbox ? outbox : "",
        Vectors.list(object.get("trace")).stream().map(String.class::cast).toList());
  }

  public MemorySegment inboxBytes() {
    return MemorySegment.ofArray(HexFormat.of().parseHex(inbox));
  }

  int count() {
    return Vectors.number(inModifier);
  }

  /** Bytes that the card fetched from the inbox, 0 for none. */
  int inboxRead() {
    return length(INBOX_READ);
  }

  /** Bytes that the card wrote to the outbox, 0 for none. */
  int outboxWritten() {
    return length(OUTBOX_WRITE);
  }

  private int length(Pattern pattern) {
    return trace.stream()
        .map(pattern::matcher)
        .filter(Matcher::matches)
        .mapToInt(match -> Integer.parseInt(match.group(1)))
        .findFirst()
        .orElse(0);
  }

  @Override
  public String toString() {
    return id + " " + name;
  }
}
