package org.hghca.conformance.table;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.hghca.conformance.profile.Feature;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Tags;

/** Every {@link Hazard} with the tests that guard it. */
final class HazardTable {
  /** How the committed list is made anew. */
  static final String COMMAND =
      "mvn -pl conformance-tests -am test -Dtest=HazardTableTest"
          + " -Dsurefire.failIfNoSpecifiedTests=false -Dhghca.profile=s -Dhghca.table=hazards";

  private HazardTable() {}

  static Path committed() {
    return CaseTable.project().resolve("docs/hazards.md");
  }

  /** By line, {@code Class#method} of the tests that carry its tag, themselves or their class. */
  static Map<String, Set<String>> guards() {
    Map<String, Set<String>> guards = new TreeMap<>(Hazard.ORDER);
    Hazard.all().forEach(hazard -> guards.put(hazard.line(), new TreeSet<>()));
    CaseTable.classes()
        .forEach(
            type -> {
              for (String line : lines(type).toList()) {
                guards.computeIfAbsent(line, it -> new TreeSet<>()).add(type.getSimpleName());
              }
              for (Method method : type.getDeclaredMethods()) {
                for (String line : lines(method).toList()) {
                  guards
                      .computeIfAbsent(line, it -> new TreeSet<>())
                      .add(type.getSimpleName() + "#" + method.getName());
                }
              }
            });
    return guards;
  }

  private static Stream<String> lines(AnnotatedElement element) {
    Tags several = element.getDeclaredAnnotation(Tags.class);
    Tag one = element.getDeclaredAnnotation(Tag.class);
    return Stream.concat(
            several == null ? Stream.of() : Stream.of(several.value()), Stream.ofNullable(one))
        .map(Tag::value)
        .filter(tag -> tag.startsWith(Hazard.TAG))
        .map(tag -> tag.substring(Hazard.TAG.length()));
  }

  /** The table as Markdown. */
  static String render() {
    StringBuilder text = new StringBuilder(8 * 1024);
    text.append("# What breaks a card, and the tests that guard it\n\n")
        .append("The numbers are those of the tests' tags (`hazard-12.n`). Lines 12.n are in")
        .append(" [hardware.md](hardware.md#")
        .append(Feature.Place.HAZARDS.anchor())
        .append("),\nthe others are rules of the tables before them there. Each test runs the")
        .append(" driver on a software HCA that plays such a card, really stops,\nand records the")
        .append(
            " cause. Made by the conformance tests; not to be edited. To make it anew:\n\n```\n")
        .append(COMMAND)
        .append("\n```\n\n| line | what breaks it | what the driver does | guarded by |\n")
        .append("|---|---|---|---|\n");
    guards()
        .forEach(
            (line, tests) -> {
              Hazard hazard = Hazard.of(line);
              text.append(
                  "| %s | %s | %s | %s |\n"
                      .formatted(
                          line,
                          hazard.what(),
                          hazard.workaround(),
                          tests.stream()
                              .map("`%s`"::formatted)
                              .collect(Collectors.joining("<br>"))));
            });
    return text.toString();
  }

  /** What a rendered list says guards each line. */
  static Map<String, Set<String>> listed(String rendered) {
    Map<String, Set<String>> listed = new TreeMap<>(Hazard.ORDER);
    rendered
        .lines()
        .filter(row -> row.matches("\\| \\d.*"))
        .map(row -> row.split(" \\| "))
        .forEach(cells -> listed.put(cells[0].substring(2), tests(cells[cells.length - 1])));
    return listed;
  }

  private static Set<String> tests(String cell) {
    return Pattern.compile("`([^`]+)`")
        .matcher(cell)
        .results()
        .map(test -> test.group(1))
        .collect(Collectors.toCollection(TreeSet::new));
  }
}
