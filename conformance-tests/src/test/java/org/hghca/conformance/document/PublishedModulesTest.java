package org.hghca.conformance.document;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every deployed module is in the BOM, and has the elements that a repository requires. */
class PublishedModulesTest {
  private static final Pattern MODULE = Pattern.compile("<module>(.*?)</module>");
  private static final Pattern ARTIFACT = Pattern.compile("<artifactId>(.*?)</artifactId>");
  private static final Pattern OWN =
      Pattern.compile("</parent>\\s*<artifactId>(.*?)</artifactId>\\s*<name>.*?</name>");

  private static String pom(String module) {
    return Documents.read(Documents.project().resolve(module).resolve("pom.xml"));
  }

  private static List<String> all(Pattern pattern, String text) {
    return pattern.matcher(text).results().map((MatchResult m) -> m.group(1)).toList();
  }

  static Stream<String> published() {
    return all(MODULE, pom("")).stream()
        .filter(module -> !module.equals("bom"))
        .filter(module -> !pom(module).contains("<maven.deploy.skip>true"));
  }

  @ParameterizedTest
  @MethodSource("published")
  void publishedModuleIsNamedAndInTheBom(String module) {
    List<String> own = all(OWN, pom(module));

    assertThat(own).as("<artifactId> and <name> of %s/pom.xml", module).hasSize(1);
    assertThat(pom(module)).contains("<description>");
    assertThat(all(ARTIFACT, managed())).containsAll(own);
  }

  private static String managed() {
    String bom = pom("bom");
    return bom.substring(
        bom.indexOf("<dependencyManagement>"), bom.indexOf("</dependencyManagement>"));
  }

  @Test
  void bomHasExactlyThePublishedModules() {
    assertThat(all(ARTIFACT, managed()))
        .hasSameSizeAs(published().toList())
        .doesNotHaveDuplicates();
  }

  @Test
  void everyCommonElementOfAPomIsPresent() {
    assertThat(pom("bom"))
        .contains("<name>", "<description>", "<url>", "<licenses>", "<developers>", "<scm");
  }

  @Test
  void consumersUseTheVersionOfTheBuild() {
    String version = all(Pattern.compile("<version>(.*?)</version>"), pom("bom")).getFirst();

    for (String consumer : List.of("classpath", "modulepath", "jlink")) {
      assertThat(Documents.read(consumers().resolve(consumer).resolve("pom.xml")))
          .contains("<hghca.version>" + version + "</hghca.version>");
    }
  }

  private static Path consumers() {
    return Documents.project().resolve("consumers");
  }
}
