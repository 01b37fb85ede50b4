package org.hghca.conformance.table;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Method;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Stream;

/** All cases of how verbs behave, and how the table of them looks. */
final class CaseTable {
  /** How the committed table is made anew. */
  static final String COMMAND = "mvn verify -Dhghca.table=docs/verbs-behaviour.md";

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

  /** The cases of all test methods, and those that have none, in the table's order. */
  static List<Row> rows() {
    try {
      Path root =
          Path.of(CaseTable.class.getProtectionDomain().getCodeSource().getLocation().toURI());
      try (Stream<Path> files = Files.walk(root.resolve(PACKAGE))) {
        Stream<Row> tested =
            files
                .map(file -> root.relativize(file).toString())
                .filter(name -> name.endsWith(CLASS))
                .map(name -> name.substring(0, name.length() - CLASS.length()).replace('/', '.'))
                .flatMap(CaseTable::casesOf);
        return Stream.concat(tested, Untested.rows().stream()).sorted(Row.ORDER).toList();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }

  private static Stream<Row> casesOf(String className) {
    try {
      Class<?> type = Class.forName(className, false, CaseTable.class.getClassLoader());
      return Stream.of(type.getDeclaredMethods()).flatMap(method -> casesOf(className, method));
    } catch (ClassNotFoundException e) {
      throw new IllegalStateException(e);
    }
  }

  private static Stream<Row> casesOf(String className, Method method) {
    return Stream.of(method.getAnnotationsByType(VerbsCase.class))
        .map(verbsCase -> Row.of(verbsCase, key(className, method.getName())));
  }

  /** What tells a test method from all others. */
  static String key(String className, String method) {
    return className + "#" + method;
  }

  /** The table as Markdown. */
  static String render(List<Row> rows, Function<Row, Outcome> outcomes) {
    Map<String, Integer> counts = new TreeMap<>();
    rows.forEach(row -> counts.merge(row.result(outcomes.apply(row)), 1, Integer::sum));
    StringBuilder text = new StringBuilder(64 * 1024);
    text.append("# How the verbs behave\n\n")
        .append("Every case that rdma-core's own tests ask of a device, and some that they do not")
        .append(" ask, with the test that\nproves it and its result. Made by the conformance")
        .append(" tests; not to be edited. To make it anew:\n\n```\n")
        .append(COMMAND)
        .append("\n```\n\n");
    text.append("Run against: ")
        .append(DEVICE.isEmpty() ? "software HCAs, reading S" : DEVICE)
        .append(". Cases: ")
        .append(rows.size());
    counts.forEach((result, count) -> text.append(", ").append(count).append(' ').append(result));
    text.append(".\n\nUNSUPPORTED: the verb fails with EOPNOTSUPP and does nothing else.\n");
    Tier tier = null;
    for (Row row : rows) {
      if (row.tier() != tier) {
        tier = row.tier();
        text.append("\n## ")
            .append(tier.title())
            .append("\n\n| case | must | test | result |\n|---|---|---|---|\n");
      }
      text.append(row.prefix()).append(' ').append(row.result(outcomes.apply(row))).append(" |\n");
    }
    return text.toString();
  }

  /** The lines of a rendered table without their results. */
  static List<String> cases(String rendered) {
    return rendered
        .lines()
        .filter(line -> line.startsWith("| ") && !line.startsWith("| case |"))
        .map(line -> line.substring(0, line.lastIndexOf('|', line.length() - 2) + 1))
        .toList();
  }
}
