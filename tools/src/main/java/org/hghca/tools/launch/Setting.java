package org.hghca.tools.launch;

import java.util.List;

/**
 * What a person sets for all commands: with an option, or for good in a {@link ConfigFile}. Each is
 * a system property of the libraries, which a program sets with {@code -D}.
 */
public enum Setting {
  IDS(
      "ids",
      "hghca.ids",
      "<vendor>:<device>,...",
      "The ids of your cards, as 'lspci -n' prints them: only these functions are considered."),
  DEVICES(
      "devices",
      "hghca.devices",
      "<locator>,...",
      "Give names to locators: 'model:' is hghca0 where there is no card."),
  PUBLISH_COUNTERS(
      "publish-counters",
      "hghca.counters",
      "on|off",
      "Whether 'hghca top' of another process sees the counters of this one (default: on)."),
  PROGRAM_NAME("program-name", "hghca.program", "<name>", "What 'hghca top' calls this process."),
  JMX("jmx", "hghca.jmx", "true|false", "Show the counters of open contexts in JMX."),
  RUNTIME_DIR(
      "runtime-dir",
      "hghca.runtime.dir",
      "<dir>",
      "Where processes of this user find each other (default: $XDG_RUNTIME_DIR/hghca)."),
  CM_ADDRESSES(
      "cm-addresses",
      "hghca.cm.addresses",
      "<address>=<device>,...",
      "Which device has which IP address, for connections by address."),
  CM_CARRIER(
      "cm-carrier",
      "hghca.cm.carrier",
      "ib|tcp",
      "The protocol that sets up connections (default: what the device can do)."),
  LOG_FORMAT(
      "log-format", "hghca.log.format", "text|json", "The lines of the log (default: text).");

  private final String key;
  private final String property;
  private final String value;
  private final String description;

  Setting(String key, String property, String value, String description) {
    this.key = key;
    this.property = property;
    this.value = value;
    this.description = description;
  }

  /** Its name in a file, and behind {@code --} as an option. */
  public String key() {
    return key;
  }

  /** The system property. */
  public String property() {
    return property;
  }

  /** What its value looks like. */
  public String value() {
    return value;
  }

  public String description() {
    return description;
  }

  /**
   * Refuses a value that is none of those that there are; the library checks others.
   *
   * @param where the value comes from, for the message
   * @throws BadSettingException saying what the value must be
   */
  String checked(String text, String where) {
    List<String> choices = List.of(value.split("\\|"));
    if (choices.size() > 1 && !choices.contains(text)) {
      throw new BadSettingException(
          "%s: %s must be %s, not '%s'".formatted(where, key, String.join(" or ", choices), text));
    }
    return text;
  }
}
