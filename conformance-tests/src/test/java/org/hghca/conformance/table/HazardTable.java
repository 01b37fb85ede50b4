package org.hghca.conformance.table;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Tags;

/** Every {@link Hazard} with the tests that guard it. */
final class HazardTable {
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
        .append("Lines 12.n are those of the table of what stops a card in [hardware.md]")
        .append("(hardware.md); the others are rules that\nits other tables give. Each test runs")
        .append(" the driver on a software HCA that plays a card as its makers built it, really\n")
        .append("stops, and records the cause. Made by the conformance tests; not to be edited.")
        .append(" To make it anew:\n\n```\n")
        .append(CaseTable.COMMAND)
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
                          hazard.care(),
                          tests.stream()
                              .map("`%s`"::formatted)
                              .collect(Collectors.joining("<br>"))));
            });
    return text.toString();
  }
}
