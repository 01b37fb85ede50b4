package org.hghca.conformance.table;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.hghca.conformance.profile.Feature;

/** What is UNSUPPORTED, at the top of the table. */
final class Missing {
  private Missing() {}

  static String render(List<Row> rows, List<ProfileResults> profiles) {
    StringBuilder text = new StringBuilder(8 * 1024);
    text.append("\n## UNSUPPORTED\n\n")
        .append("On every profile the verb fails with EOPNOTSUPP, or is not there at all:\n\n");
    rows.stream()
        .filter(Row::unsupported)
        .map(row -> "- %s: %s\n".formatted(row.source(), row.says()))
        .forEach(text::append);
    text.append(
            "\n"
                + "On S: nothing else. On R1 and R2 also what the makers' RTL lacks,"
                + " INLINE_DATAGRAMS on R2 alone.\n"
                + "A line 12.n")
        .append(" is one of the table of what stops a card in [hardware.md](hardware.md), the")
        .append(" others stand behind the table.\n")
        .append("The last column counts the cases of R1 below that miss it.\n\n")
        .append("| feature | what is missing | lines | said by | cases |\n")
        .append("|---|---|---|---|---|\n");
    Arrays.stream(Feature.values())
        .map(
            feature ->
                "| %s | %s | %s | %s | %d |\n"
                    .formatted(
                        feature.name(),
                        feature.what(),
                        feature.rules(),
                        feature.says().text(),
                        count(feature, rows, profiles)))
        .forEach(text::append);
    return text.append(legend()).toString();
  }

  private static String legend() {
    return Arrays.stream(Feature.values())
        .flatMap(feature -> Arrays.stream(feature.rules().split(", ")))
        .filter(line -> !line.startsWith("12."))
        .distinct()
        .sorted(Hazard.ORDER)
        .map(line -> "- %s: %s\n".formatted(line, Sections.of(line)))
        .collect(Collectors.joining("", "\n", ""));
  }

  private static long count(Feature feature, List<Row> rows, List<ProfileResults> profiles) {
    return profiles.stream()
        .flatMap(profile -> rows.stream().map(row -> profile.of(row.test())))
        .map(result -> result.missing().stream().collect(Collectors.joining(", ")))
        .filter(
            missing -> Arrays.asList(missing.split(", (?=[A-Z])|; ")).contains(feature.because()))
        .count();
  }
}
