package org.hghca.tools.bringup.report;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Where a report comes from.
 *
 * @param version of hghca
 * @param commit of its source; {@code unknown} when it was built without
 * @param commandLine as it was given
 * @param machine kernel, CPU and JVM, by name
 */
public record Origin(
    String version, String commit, String commandLine, Map<String, String> machine) {

  /** The keys of JSON that a report begins with. */
  Map<String, Object> toJson() {
    Map<String, Object> hghca = new LinkedHashMap<>();
    hghca.put("version", version);
    hghca.put("commit", commit);
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("schema_version", JsonOutput.SCHEMA_VERSION);
    json.put("hghca", hghca);
    json.put("command_line", commandLine);
    json.put("machine", machine);
    return json;
  }
}
