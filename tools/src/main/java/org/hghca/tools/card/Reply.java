package org.hghca.tools.card;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.hghca.tools.card.fields.Fields;

/**
 * The result of one line. Immutable as far as its readers can tell.
 *
 * @param command the line
 * @param fields what was found, also before a failure
 * @param error why the line has failed, in one line; empty when it has not
 * @param isStopped whether the card has stopped answering
 */
public record Reply(String command, Fields fields, String error, boolean isStopped) {

  /** Whether the line has done what it says. */
  public boolean isOk() {
    return error.isEmpty();
  }

  /** The values as text. */
  public List<String> lines() {
    return fields.lines();
  }

  /** The values as maps, lists, texts and numbers of JSON, behind "command", "ok" and "error". */
  public Map<String, Object> json() {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("command", command);
    json.put("ok", isOk());
    if (!isOk()) {
      json.put("error", error);
    }
    json.putAll(fields.json());
    return json;
  }
}
