package org.hghca.conformance.table;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Method;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** All cases of how verbs behave, and the Markdown of their table. */
final class CaseTable {
  /** How the committed table is regenerated. */
  static final String COMMAND = "mvn verify -Dhghca.table=docs/verbs-behaviour.md";

  /** The profiles that run every case, in the order of the build. */
  static final List<String> PROFILES = List.of("s", "r1", "r2");

  private static final String PACKAGE = "org/hghca/conformance";
  private static final String CLASS = ".class";
  private static final String DEVICE = System.getProperty("hghca.device", "");

  private CaseTable() {}

  /** The project's folder; tests run in it or in a module's. */
  static Path project() {
    Path here = Path.of("").toAbsolutePath();
    for (Path at = here; at != null; at = at.getParent()) {
      if (Files.isDirectory(at.resolve("conformance-tests"))) {
        return at;
      }
    }
    throw new IllegalStateException("no folder above " + here + " has the conformance tests");
  }

  static Path committed() {
    return project().resolve("docs/verbs-behaviour.md");
  }

  /** The cases of all test methods, and those without a test, in the table's order. */
  static List<Row> rows() {
    Stream<Row> tested =
        classes().stream()
            .flatMap(
                type ->
                    Stream.of(type.getDeclaredMethods())
                        .flatMap(method -> casesOf(type.getName(), method)));
    return Stream.concat(tested, Untested.rows().stream()).sorted(Row.ORDER).toList();
  }

  /** All classes of the conformance tests. */
  static List<Class<?>> classes() {
    try {
      Path root =
          Path.of(CaseTable.class.getProtectionDomain().getCodeSource().getLocation().toURI());
      try (Stream<Path> files = Files.walk(root.resolve(PACKAGE))) {
        return files
            .map(file -> root.relativize(file).toString())
            .filter(name -> name.endsWith(CLASS))
            .map(name -> name.substring(0, name.length() - CLASS.length()).replace('/', '.'))
            .sorted()
            .<Class<?>>map(CaseTable::load)
            .toList();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }

  private static Class<?> load(String name) {
    try {
      return Class.forName(name, false, CaseTable.class.getClassLoader());
    } catch (ClassNotFoundException e) {
      throw new IllegalStateException(e);
    }
  }

  private static Stream<Row> casesOf(String className, Method method) {
    return Stream.of(method.getAnnotationsByType(VerbsCase.class))
        .map(verbsCase -> Row.of(verbsCase, key(className, method.getName())));
  }

  /** The unique key of a test method. */
  static String key(String className, String method) {
    return className + "#" + method;
  }

  /** The table as Markdown, with a column for each profile. */
  static String render(List<Row> rows, List<ProfileResults> profiles) {
    StringBuilder text = new StringBuilder(64 * 1024);
    text.append("# How the verbs behave\n\n")
        .append("Every case that rdma-core's own tests ask of a device, and some that they do not")
        .append(" ask, with the test that\nproves it and its result. Made by the conformance")
        .append(" tests; not to be edited. To make it again:\n\n```\n")
        .append(COMMAND)
        .append("\n```\n\nRun against: ")
        .append(DEVICE.isEmpty() ? "software HCAs" : DEVICE)
        .append(". Cases: ")
        .append(rows.size())
        .append(".\n\n");
    profiles.forEach(profile -> text.append(summary(rows, profile)));
    text.append(Missing.render(rows, profiles));
    Tier tier = null;
    for (Row row : rows) {
      if (row.tier() != tier) {
        tier = row.tier();
        text.append("\n## ").append(tier.title()).append("\n\n| case | must | test |");
        profiles.forEach(profile -> text.append(' ').append(title(profile.profile())).append(" |"));
        text.append("\n|---|---|---|").append("---|".repeat(profiles.size())).append('\n');
      }
      text.append(row.prefix());
      for (ProfileResults profile : profiles) {
        text.append(' ').append(row.result(profile.of(row.test()))).append(" |");
      }
      text.append('\n');
    }
    return text.toString();
  }

  /** The displayed name of a profile. */
  static String title(String profile) {
    return profile.toUpperCase(Locale.ROOT);
  }

  private static String summary(List<Row> rows, ProfileResults profile) {
    Map<String, Integer> counts = new TreeMap<>();
    for (Row row : rows) {
      String result = row.result(profile.of(row.test()));
      counts.merge(Row.kind(result), 1, Integer::sum);
    }
    return counts.entrySet().stream()
        .map(count -> count.getValue() + " " + count.getKey())
        .collect(Collectors.joining(", ", "- %s: ".formatted(title(profile.profile())), ".\n"));
  }

  /** The lines of a rendered table without their results. */
  static List<String> cases(String rendered) {
    return rendered
        .substring(Math.max(0, rendered.indexOf("\n## Tier")))
        .lines()
        .filter(line -> line.startsWith("| ") && !line.startsWith("| case |"))
        .map(line -> line.substring(0, line.indexOf('|', endOfMust(line)) + 1))
        .toList();
  }

  private static int endOfMust(String line) {
    return line.indexOf('|', line.indexOf('|', 1) + 1) + 1;
  }
}
