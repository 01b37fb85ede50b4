package org.hghca.tools.card;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.hghca.abi.Hcr;
import org.hghca.abi.HcrCommand;
import org.hghca.tools.launch.Nearest;
import org.hghca.tools.raw.CommandRecord;

/**
 * The words behind {@code hcr}.
 *
 * @param opcode 12 bits
 * @param opModifier empty when the line names none
 * @param inModifier empty when the line names none
 * @param immediate in_param; empty when the line names none
 * @param inbox bytes of the inbox; empty when the line names none
 * @param unsafe whether to give a command that can stop the card
 */
record HcrLine(
    int opcode,
    OptionalInt opModifier,
    OptionalInt inModifier,
    OptionalLong immediate,
    Optional<byte[]> inbox,
    boolean unsafe) {
  static final String USAGE =
      "hcr NAME|NUMBER [op_modifier=N] [in_modifier=N] [in=IMMEDIATE] [--in FILE|hex bytes]"
          + " [--unsafe]";

  private static final int OPCODE_BITS = 12;
  private static final Pattern HEX = Pattern.compile("(?:\\p{XDigit}{2})+");

  /** Reads the words. */
  static HcrLine of(Words words) {
    boolean unsafe = words.take("--unsafe");
    int opcode = opcode(words.next("a command is missing: " + USAGE));
    OptionalInt opModifier = OptionalInt.empty();
    OptionalInt inModifier = OptionalInt.empty();
    OptionalLong immediate = OptionalLong.empty();
    Optional<byte[]> inbox = Optional.empty();
    while (!words.isEmpty()) {
      String word = words.next();
      if (word.equals("--in")) {
        inbox = Optional.of(bytes(words));
        continue;
      }
      int equals = word.indexOf('=');
      String name = equals < 0 ? word : word.substring(0, equals);
      String value = word.substring(equals + 1);
      switch (equals < 0 ? "" : name) {
        case "op_modifier" -> opModifier = OptionalInt.of(Numbers.parseInt(name, value, Byte.SIZE));
        case "in_modifier" ->
            inModifier = OptionalInt.of(Numbers.parseInt(name, value, Integer.SIZE));
        case "in" -> immediate = OptionalLong.of(Numbers.parse(name, value, Long.SIZE));
        default -> throw new RequestFailedException("'%s' is not known: %s".formatted(word, USAGE));
      }
    }
    return new HcrLine(opcode, opModifier, inModifier, immediate, inbox, unsafe);
  }

  private static int opcode(String word) {
    if (Numbers.isNumber(word)) {
      return Numbers.parseInt("an opcode", word, OPCODE_BITS);
    }
    return Arrays.stream(HcrCommand.values())
        .filter(each -> each.name().equalsIgnoreCase(word) || each.symbol().equalsIgnoreCase(word))
        .findFirst()
        .map(HcrCommand::code)
        .orElseThrow(
            () ->
                new RequestFailedException(
                    "the HCR has no command '%s': the nearest is %s; a number gives any opcode"
                        .formatted(word, Nearest.of(word, names()))));
  }

  private static List<String> names() {
    return Stream.of(HcrCommand.values()).map(HcrCommand::name).toList();
  }

  /** Words of hexadecimal digits, or the content of a file. */
  private static byte[] bytes(Words words) {
    String first = words.next("--in needs a file, or bytes in hexadecimal");
    byte[] bytes;
    if (HEX.matcher(first).matches()) {
      StringBuilder digits = new StringBuilder(first);
      while (HEX.matcher(words.peek()).matches()) {
        digits.append(words.next());
      }
      bytes = HexFormat.of().parseHex(digits);
    } else {
      try {
        bytes = Files.readAllBytes(Path.of(first));
      } catch (IOException e) {
        throw new RequestFailedException(
            "--in %s is no file that can be read, and not an even number of hexadecimal digits"
                .formatted(first));
      }
    }
    if (bytes.length > Mailboxes.SIZE) {
      throw new RequestFailedException(
          "an inbox has at most %d bytes, not %d".formatted(Mailboxes.SIZE, bytes.length));
    }
    return bytes;
  }

  /** The command of the table; null for an opcode that is in no table. */
  HcrCommand command() {
    return HcrCommand.of(opcode).orElse(null);
  }

  /** The op_modifier, by default the only legal one. */
  int opModifierOrDefault() {
    HcrCommand command = command();
    if (opModifier.isPresent() || command == null) {
      return opModifier.orElse(0);
    }
    List<Integer> legal = command.opModifiers();
    if (legal.contains(0) || legal.size() == 1) {
      return legal.getFirst();
    }
    throw new RequestFailedException(
        "%s needs op_modifier=%s".formatted(command, legal.toString().replaceAll("[\\[\\] ]", "")));
  }

  /** The in_modifier, by default that of NOP or 0. */
  int inModifierOrDefault() {
    return inModifier.orElse(command() == HcrCommand.NOP ? HcrCommand.NOP_IN_MODIFIER : 0);
  }

  /** Refuses an inbox of another size than the command's, and a missing one. */
  void checkInbox() {
    HcrCommand command = command();
    if (unsafe || command == null) {
      return;
    }
    boolean has = command.hasInbox(opModifierOrDefault());
    if (has && inbox.isEmpty()) {
      throw new RequestFailedException(
          "%s needs an inbox%s: --in FILE, or --in and bytes in hexadecimal"
              .formatted(
                  command,
                  size(command).isPresent() ? " of " + size(command).getAsInt() + " bytes" : ""));
    }
    if (!has && inbox.isPresent()) {
      throw new RequestFailedException(
          "%s has no inbox: leave --in out, or give --unsafe".formatted(command));
    }
    if (has && immediate.isPresent()) {
      throw new RequestFailedException(
          "in_param of %s is the address of its inbox: leave in= out, or give --unsafe"
              .formatted(command));
    }
    OptionalInt size = size(command);
    if (has && size.isPresent() && inbox.get().length != size.getAsInt()) {
      throw new RequestFailedException(
          "the inbox of %s has %d bytes, not %d"
              .formatted(command, size.getAsInt(), inbox.get().length));
    }
  }

  private OptionalInt size(HcrCommand command) {
    int word = Hcr.command(command.code(), opModifierOrDefault());
    int size = CommandRecord.inboxSize(word, inModifierOrDefault());
    return size == 0 ? OptionalInt.empty() : OptionalInt.of(size);
  }
}
