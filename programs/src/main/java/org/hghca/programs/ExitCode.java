package org.hghca.programs;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The exit codes of the command line, the same for every subcommand but those with the exit codes
 * of an original.
 */
public enum ExitCode {
  OK(0, "Success."),
  FAILED(1, "Something failed: the command, a check or a step."),
  USAGE(2, "Wrong usage."),
  NOT_OPENED(3, "A device does not exist or cannot be opened."),
  STOPPED(4, "The card stopped answering."),
  NO_OUTPUT(5, "Output could not be written."),
  INCOMPLETE(6, "bringup: nothing failed, but not every step could be judged."),
  INTERRUPTED(130, "Ended by Ctrl-C (SIGINT); bringup and card also by SIGTERM.");

  private final int code;
  private final String meaning;

  ExitCode(int code, String meaning) {
    this.code = code;
    this.meaning = meaning;
  }

  public int code() {
    return code;
  }

  /** All of them, for the help of every subcommand. */
  public static Map<String, String> list() {
    Map<String, String> list = new LinkedHashMap<>();
    for (ExitCode exit : values()) {
      list.put(Integer.toString(exit.code), exit.meaning);
    }
    return list;
  }

  /** Those of a program whose original ends with 1 whatever fails. */
  public static Map<String, String> ofOriginals() {
    Map<String, String> list = list();
    list.keySet().removeAll(List.of("2", "3", "4", "6"));
    list.put("1", "Anything failed, as with the original: also wrong usage, and no such device.");
    return list;
  }
}
