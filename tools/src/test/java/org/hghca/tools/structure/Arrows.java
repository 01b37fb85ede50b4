package org.hghca.tools.structure;

import java.io.File;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;

/**
 * Dependencies between the classes or packages of the project, as {@code jdeps} reads them from the
 * class files.
 */
final class Arrows {
  private static final Pattern ARROW =
      Pattern.compile("^ {3}(org\\.hghca\\.\\S+)\\s+-> (org\\.hghca\\.\\S+)", Pattern.MULTILINE);

  private final Map<String, Set<String>> uses = new TreeMap<>();

  private Arrows() {}

  /** Between classes; a nested class counts as its outermost class. */
  static Arrows betweenClasses() {
    Arrows arrows = new Arrows();
    for (MatchResult arrow : ARROW.matcher(jdeps()).results().toList()) {
      arrows.add(outermost(arrow.group(1)), outermost(arrow.group(2)));
    }
    return arrows;
  }

  /** Between packages. */
  static Arrows betweenPackages() {
    Arrows arrows = new Arrows();
    betweenClasses()
        .uses
        .forEach((from, all) -> all.forEach(to -> arrows.add(packageOf(from), packageOf(to))));
    return arrows;
  }

  static String packageOf(String name) {
    return name.substring(0, name.lastIndexOf('.'));
  }

  private static String outermost(String name) {
    return name.replaceFirst("\\$.*", "");
  }

  private void add(String from, String to) {
    if (!from.equals(to)) {
      uses.computeIfAbsent(from, name -> new TreeSet<>()).add(to);
    }
  }

  private static String jdeps() {
    String all = System.getProperty("java.class.path");
    List<String> arguments =
        new ArrayList<>(List.of("--multi-release", "base", "-verbose:class", "-filter:none"));
    // jdeps also resolves the modules of other projects that a module requires.
    arguments.addAll(List.of("--module-path", all));
    Arrays.stream(all.split(File.pathSeparator))
        .map(Path::of)
        .filter(Arrows::isOurs)
        .forEach(path -> arguments.add(path.toString()));
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int code =
        ToolProvider.findFirst("jdeps")
            .orElseThrow()
            .run(
                new PrintWriter(out, true),
                new PrintWriter(err, true),
                arguments.toArray(String[]::new));
    if (code != 0) {
      throw new IllegalStateException("jdeps %s: %s%s".formatted(arguments, out, err));
    }
    return out.toString();
  }

  /** The built classes of the project, without its tests, which may use anything. */
  private static boolean isOurs(Path path) {
    String name = path.getFileName().toString();
    if (name.startsWith("test") || name.endsWith("-tests.jar")) {
      return false;
    }
    return Files.isDirectory(path)
        ? Files.isDirectory(path.resolve("org/hghca"))
        : name.startsWith("hghca-");
  }

  /** All members that use others or are used. */
  int size() {
    Set<String> all = new TreeSet<>(uses.keySet());
    uses.values().forEach(all::addAll);
    return all.size();
  }

  /** The members that one uses itself. */
  Set<String> usedBy(String name) {
    return uses.getOrDefault(name, Set.of());
  }

  /** The classes that use one of a package; among arrows between classes. */
  Set<String> usersOf(String packageName) {
    Set<String> users = new TreeSet<>();
    uses.forEach(
        (from, all) -> {
          if (all.stream().anyMatch(to -> packageOf(to).equals(packageName))) {
            users.add(from);
          }
        });
    return users;
  }

  /** Groups in which each member reaches each other one. */
  Set<Set<String>> circles() {
    Map<String, Set<String>> reached = new TreeMap<>();
    uses.keySet().forEach(name -> reached.put(name, reach(name)));
    Set<Set<String>> circles = new HashSet<>();
    reached.forEach(
        (name, all) -> {
          Set<String> circle = new TreeSet<>();
          for (String other : all) {
            if (reached.getOrDefault(other, Set.of()).contains(name)) {
              circle.add(other);
            }
          }
          if (circle.size() > 1) {
            circles.add(circle);
          }
        });
    return circles;
  }

  private Set<String> reach(String from) {
    Set<String> reached = new TreeSet<>();
    List<String> left = new ArrayList<>(List.of(from));
    while (!left.isEmpty()) {
      for (String next : uses.getOrDefault(left.removeLast(), Set.of())) {
        if (reached.add(next)) {
          left.add(next);
        }
      }
    }
    return reached;
  }
}
