package org.hghca.abi;

import java.util.Arrays;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Codes of the HCR's status field (interface document, table 3-1-5).
 *
 * <p>Document and RTL disagree on two codes: 05 is BAD_NVMEM in the document and BAD_RESOURCE in
 * the RTL, whose BAD_NVMEM is 0b. The RTL also ORs the codes of checks that fail together.
 */
public enum CommandStatus {
  /** 00: completed by the command unit. */
  OK(0x00, "HGHCA_CMD_STAT_OK", "command executed"),
  /** 02: no such opcode. */
  BAD_OP(0x02, "HGHCA_CMD_STAT_BAD_OP", "wrong opcode"),
  /** 03: illegal op_modifier, or an in_param or out_param of zero that must be an address. */
  BAD_PARAM(0x03, "HGHCA_CMD_STAT_BAD_PARAM", "wrong parameter"),
  /** 04: the command unit is in reset. */
  BAD_SYS_STATE(0x04, "HGHCA_CMD_STAT_BAD_SYS_STATE", "command unit in reset"),
  /** 05: BAD_NVMEM in the document, BAD_RESOURCE in the RTL. */
  BAD_NVMEM(
      0x05,
      "HGHCA_CMD_STAT_BAD_NVMEM",
      "firmware content damaged; in the RTL's numbering BAD_RESOURCE, a wrong resource"),
  /** 0b: BAD_NVMEM in the RTL's numbering; the document does not list it. */
  RTL_BAD_NVMEM(
      0x0B, "HGHCA_CMD_STAT_BAD_NVMEM", "in the RTL's numbering firmware content damaged");

  private final int code;
  private final String symbol;
  private final String meaning;

  CommandStatus(int code, String symbol, String meaning) {
    this.code = code;
    this.symbol = symbol;
    this.meaning = meaning;
  }

  /** The code, 8 bits. */
  public int code() {
    return code;
  }

  /** The document's name, as in {@code HGHCA_CMD_STAT_BAD_OP}. */
  public String symbol() {
    return symbol;
  }

  /** The meaning in a few words; where document and RTL disagree, both. */
  public String meaning() {
    return meaning;
  }

  /** The status with exactly this code. */
  public static Optional<CommandStatus> of(int code) {
    return Arrays.stream(values()).filter(status -> status.code == code).findFirst();
  }

  /**
   * Describes a code of the status field, for messages: name, number and meaning; for a code
   * without a name, the pairs of codes that give it when ORed.
   */
  public static String describe(int code) {
    return of(code)
        .map(status -> String.format("%s (0x%02x: %s)", status.symbol, code, status.meaning))
        .orElseGet(() -> describeUnnamed(code));
  }

  private static String describeUnnamed(int code) {
    String pairs =
        Arrays.stream(values())
            .flatMap(
                first ->
                    Arrays.stream(values())
                        .filter(second -> first.compareTo(second) < 0)
                        .filter(second -> (first.code | second.code) == code)
                        .map(second -> first.symbol + "|" + second.symbol))
            .collect(Collectors.joining(" or "));
    return pairs.isEmpty()
        ? String.format("unknown status 0x%02x", code)
        : String.format("0x%02x, several codes ORed: %s", code, pairs);
  }
}
