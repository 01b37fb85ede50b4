package org.hghca.conformance.profile;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A test is skipped only because of a missing {@link Feature} of the facts. */
class OnlyReasonsTest {
  private static final Path SOURCES = sources();

  /** Tests with requirements on the machine: interfaces, namespaces, tshark, a short path. */
  private static final Set<String> OF_THE_MACHINE =
      Set.of(
          "verbs/InterfaceCaptureTest.java",
          "verbs/KernelInterfacesTest.java",
          "verbs/MulticastTest.java",
          "verbs/Tshark.java",
          "verbs/UdpNetworkTest.java");

  private static Path sources() {
    Path here = Path.of("").toAbsolutePath();
    while (!Files.isDirectory(here.resolve("conformance-tests"))) {
      here = here.getParent();
    }
    return here.resolve("conformance-tests/src/test/java/org/hghca/conformance");
  }

  private static Map<String, String> texts() throws IOException {
    Map<String, String> texts = new TreeMap<>();
    try (Stream<Path> files = Files.walk(SOURCES)) {
      for (Path file : files.filter(name -> name.toString().endsWith(".java")).toList()) {
        texts.put(SOURCES.relativize(file).toString(), Files.readString(file));
      }
    }
    return texts;
  }

  @Test
  void noTestIsSkippedForAnotherReason() throws IOException {
    List<String> ways = List.of("@Disab", "@Enab", "Assumptions", "assumeT", "TestAborted");
    assertThat(texts())
        .allSatisfy(
            (file, text) -> {
              if ((file.startsWith("verbs/") || file.startsWith("hostile/"))
                  && !OF_THE_MACHINE.contains(file)) {
                assertThat(ways).as(file).noneMatch(text::contains);
              }
            });
  }

  @Test
  void everyFeatureIsNeededBySomeTest() throws IOException {
    String all = String.join("\n", texts().values());
    assertThat(Arrays.stream(Feature.values()))
        .allMatch(feature -> all.contains("Feature." + feature.name()));
  }

  /** Headings become anchors as the usual viewers make them. */
  @Test
  void everyFeatureNamesASectionOfItsPage() throws IOException {
    for (Feature.Place place : Feature.Place.values()) {
      Path docs = SOURCES.resolve("../../../../../../../docs").normalize();
      assertThat(Files.readAllLines(docs.resolve(place.page() + ".md")).stream())
          .filteredOn(line -> line.startsWith("#"))
          .map(line -> line.replaceFirst("#+ ", "").toLowerCase(Locale.ROOT))
          .map(line -> line.replaceAll("[^a-z0-9 -]", "").replace(' ', '-'))
          .contains(place.anchor());
    }
  }

  @Test
  void reasonIsParsedAsItWasWritten() {
    List<Feature> two = List.of(Feature.SQD, Feature.ATOMICS);
    assertThat(Unsupported.features(Unsupported.reason(two))).contains("ATOMICS, SQD");
    assertThat(Unsupported.features("no time")).isEmpty();
  }
}
