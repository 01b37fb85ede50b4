package org.hghca.conformance.table;

import java.util.List;
import org.hghca.conformance.profile.Feature;

/** What is UNSUPPORTED, on the page for users. */
final class Missing {
  private Missing() {}

  static String render(List<Row> rows, List<ProfileResults> profiles) {
    StringBuilder text = new StringBuilder(8 * 1024);
    text.append("\n## UNSUPPORTED\n\n")
        .append("On every profile the verb fails with EOPNOTSUPP, or does not exist:\n\n");
    rows.stream()
        .filter(Row::unsupported)
        .map(row -> "- %s: %s\n".formatted(row.source(), row.says()))
        .forEach(text::append);
    text.append(
            "\nOn S: nothing else. R1 and R2, the makers' published RTL, and virtio, a"
                + " [virtio network card](virtio-roce.md), also lack the following.")
        .append("\nPrograms see it in `queryDevice().features()` and `quirks()`, users in")
        .append(" `hghca info -v`. The counts are of the cases that need it.\n\n")
        .append("| feature | what is missing | what happens instead | more |");
    List<ProfileResults> others =
        profiles.stream().filter(profile -> !profile.profile().equals("s")).toList();
    others.forEach(profile -> text.append(" %s |".formatted(CaseTable.title(profile.profile()))));
    text.append("\n|---|---|---|---|").append("---|".repeat(others.size())).append('\n');
    for (Feature feature : Feature.values()) {
      text.append(
          "| %1$s | %2$s | %3$s | [%4$s](%4$s.md#%5$s) |"
              .formatted(
                  feature.name(),
                  feature.what(),
                  feature.instead(),
                  feature.place().page(),
                  feature.place().anchor()));
      others.forEach(profile -> text.append(" %s |".formatted(on(profile, feature, rows))));
      text.append('\n');
    }
    return text.toString();
  }

  private static String on(ProfileResults profile, Feature feature, List<Row> rows) {
    if (!Feature.missingOn(profile.profile()).contains(feature)) {
      return "present";
    }
    long cases = count(feature, rows, profile);
    return switch ((int) cases) {
      case 0 -> "missing";
      case 1 -> "missing, 1 case";
      default -> "missing, %d cases".formatted(cases);
    };
  }

  private static long count(Feature feature, List<Row> rows, ProfileResults profile) {
    return rows.stream()
        .map(row -> profile.of(row.test()))
        .map(result -> String.join(", ", result.missing()))
        .filter(missing -> List.of(missing.split("[,;] ")).contains(feature.name()))
        .count();
  }
}
