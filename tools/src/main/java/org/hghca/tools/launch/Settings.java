package org.hghca.tools.launch;

import java.nio.file.Path;
import java.util.EnumMap;
import java.util.Map;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.ISetter;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ScopeType;

/**
 * The settings of a command: of its options, else those that the JVM was started with, else of the
 * user's file, else of the machine's.
 */
public final class Settings implements AutoCloseable {
  private final Map<Setting, String> options = new EnumMap<>(Setting.class);

  /** What the properties were before, for programs that run the command line in their JVM. */
  private final Map<Setting, String> before = new EnumMap<>(Setting.class);

  /** Adds an option for each setting to a command and those of its commands. */
  public void addOptions(CommandSpec command) {
    for (Setting setting : Setting.values()) {
      command.addOption(
          OptionSpec.builder("--" + setting.key())
              .paramLabel(setting.value())
              .type(String.class)
              .scopeType(ScopeType.INHERIT)
              .description(setting.description())
              .setter(setter(setting))
              .build());
    }
  }

  private ISetter setter(Setting setting) {
    return new ISetter() {
      @Override
      public <T> T set(T value) {
        if (value != null) { // null when parsing begins
          options.put(setting, value.toString());
        }
        return value;
      }
    };
  }

  /**
   * Sets the properties, until {@link #close}.
   *
   * @throws BadSettingException naming the option, or the file and the line
   */
  public void apply(Map<String, String> environment) {
    Map<Setting, String> all = new EnumMap<>(Setting.class);
    for (Path file : ConfigFile.places(environment).reversed()) {
      all.putAll(ConfigFile.read(file));
    }
    all.keySet().removeIf(setting -> System.getProperty(setting.property()) != null);
    options.forEach(
        (setting, text) -> all.put(setting, setting.checked(text, "--" + setting.key())));
    for (Map.Entry<Setting, String> each : all.entrySet()) {
      before.put(each.getKey(), System.getProperty(each.getKey().property()));
      System.setProperty(each.getKey().property(), each.getValue());
    }
  }

  /** Sets the properties to what they were before. */
  @Override
  public void close() {
    before.forEach(
        (setting, value) -> {
          if (value == null) {
            System.clearProperty(setting.property());
          } else {
            System.setProperty(setting.property(), value);
          }
        });
  }
}
