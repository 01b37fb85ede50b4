package org.hghca.tools.launch;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.hghca.programs.FileFailure;

/**
 * A file with settings, one a line.
 *
 * <pre>
 * # the board on my desk
 * ids = 10ee:9038
 * log-format = json
 * </pre>
 */
public final class ConfigFile {
  private static final Path OF_THE_MACHINE = Path.of("/etc/hghca/config");

  private ConfigFile() {}

  /**
   * The files of a user, the most important first: {@code hghca/config} in {@code $XDG_CONFIG_HOME}
   * or {@code ~/.config}, then {@code /etc/hghca/config}.
   */
  static List<Path> places(Map<String, String> environment) {
    List<Path> places = new ArrayList<>();
    String configuration = environment.getOrDefault("XDG_CONFIG_HOME", "");
    String home = environment.getOrDefault("HOME", "");
    if (configuration.startsWith("/")) {
      places.add(Path.of(configuration, "hghca/config"));
    } else if (home.startsWith("/")) {
      places.add(Path.of(home, ".config/hghca/config"));
    }
    places.add(OF_THE_MACHINE);
    return places;
  }

  /**
   * Reads a file, which need not be there. One that this user cannot even see, in a home directory
   * of another user, is not there either: a program that gave up root's rights often has root's
   * HOME.
   *
   * @throws BadSettingException naming the file, and the line where one is wrong
   */
  static Map<Setting, String> read(Path file) {
    List<String> lines;
    try {
      lines = Files.readAllLines(file);
    } catch (IOException e) {
      if (!Files.exists(file)) {
        return Map.of();
      }
      throw new BadSettingException("cannot read %s: %s".formatted(file, FileFailure.why(e)));
    }
    Map<Setting, String> settings = new EnumMap<>(Setting.class);
    for (int i = 0; i < lines.size(); i++) {
      String line = lines.get(i).strip();
      if (!line.isEmpty() && !line.startsWith("#")) {
        put(line, "%s:%d".formatted(file, i + 1), settings);
      }
    }
    return settings;
  }

  private static void put(String line, String where, Map<Setting, String> settings) {
    int equals = line.indexOf('=');
    if (equals < 0) {
      throw new BadSettingException("%s: '%s' is not key = value".formatted(where, line));
    }
    String key = line.substring(0, equals).strip();
    Setting setting = setting(key, where);
    String value = setting.checked(line.substring(equals + 1).strip(), where);
    if (settings.put(setting, value) != null) {
      throw new BadSettingException("%s: %s is there twice".formatted(where, key));
    }
  }

  private static Setting setting(String key, String where) {
    List<String> keys = Arrays.stream(Setting.values()).map(Setting::key).toList();
    if (!keys.contains(key)) {
      throw new BadSettingException(
          "%s: unknown key '%s': the nearest is '%s'".formatted(where, key, Nearest.of(key, keys)));
    }
    return Setting.values()[keys.indexOf(key)];
  }
}
