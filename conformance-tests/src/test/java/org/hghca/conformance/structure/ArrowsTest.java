package org.hghca.conformance.structure;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Imports between packages are acyclic, in every module. */
class ArrowsTest {
  /** The API finds its providers by an interface that speaks of the API. */
  private static final Set<String> API = Set.of("org.hghca.verbs", "org.hghca.verbs.spi");

  /**
   * A function in the same process, which any caller may create, consists of address spaces and
   * system calls; both throw the exceptions of functions. No two classes refer to each other.
   */
  private static final Set<String> FUNCTIONS =
      Set.of("org.hghca.vfio", "org.hghca.vfio.dma", "org.hghca.vfio.linux");

  /** The packages of the driver, each of which uses only those behind it. */
  private static final List<String> DRIVER =
      List.of(
          "org.hghca.driver",
          "org.hghca.driver.bringup",
          "org.hghca.driver.object",
          "org.hghca.driver.recovery",
          "org.hghca.driver.state",
          "org.hghca.driver.completion",
          "org.hghca.driver.event",
          "org.hghca.driver.ring",
          "org.hghca.driver.memory",
          "org.hghca.driver.card");

  /** The cycle that the verbs name, on a card: the objects of the driver. */
  private static final int LARGEST_TANGLE = 15;

  @Test
  void noCycleOfPackagesIsAdded() {
    Arrows arrows = Arrows.betweenPackages();

    assertThat(arrows.size()).as("packages seen").isGreaterThan(20);
    assertThat(arrows.circles()).containsExactlyInAnyOrder(API, FUNCTIONS);
  }

  @Test
  void noCycleOfClassesSpansPackages() {
    assertThat(Arrows.betweenClasses().circles())
        .allSatisfy(
            circle ->
                assertThat(circle.stream().map(Arrows::packageOf).collect(Collectors.toSet()))
                    .as(circle.toString())
                    .hasSize(1));
  }

  @Test
  void packagesOfTheDriverAreLayers() {
    Arrows arrows = Arrows.betweenPackages();

    for (int at = 0; at < DRIVER.size(); at++) {
      List<String> below = DRIVER.subList(at + 1, DRIVER.size());
      assertThat(arrows.usedBy(DRIVER.get(at)))
          .as(DRIVER.get(at))
          .filteredOn(name -> name.startsWith("org.hghca.driver"))
          .isSubsetOf(below);
    }
    assertThat(arrows.usedBy(DRIVER.getFirst())).as("packages seen").contains(DRIVER.get(1));
  }

  @Test
  void noCycleOfTheDriverGrows() {
    assertThat(Arrows.betweenClasses().circles())
        .filteredOn(circle -> circle.iterator().next().startsWith("org.hghca.driver."))
        .isNotEmpty()
        .allSatisfy(circle -> assertThat(circle).hasSizeLessThanOrEqualTo(LARGEST_TANGLE));
  }

  /** Modules for any provider know no card, nor does the module of packets between ports. */
  @Test
  void modulesIndependentOfTheCardUseNoCardModule() {
    assertThat(Arrows.betweenPackages().usedBy("org.hghca.provider"))
        .isSubsetOf("org.hghca.verbs", "org.hghca.verbs.spi", "org.hghca.vfio");
    assertThat(Arrows.betweenPackages().usedBy("org.hghca.verbs")).isSubsetOf(API);
    assertThat(Arrows.betweenPackages().usedBy("org.hghca.wire")).isEmpty();
    assertThat(Arrows.betweenPackages().usedBy("org.hghca.linux")).isEmpty();
  }
}
