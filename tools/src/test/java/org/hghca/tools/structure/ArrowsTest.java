package org.hghca.tools.structure;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Imports between packages are acyclic, in every module. */
class ArrowsTest {
  /**
   * The only circle: the API finds its providers by an interface that names types of the API, as
   * java.nio.file does. What providers do with requests is hidden from programs: its interface is
   * in spi, its implementation beside the requests.
   */
  private static final Set<String> API = Set.of("org.hghca.verbs", "org.hghca.verbs.spi");

  /** The classes of the API that use its spi. */
  private static final List<String> API_USES_OF_SPI =
      List.of(
          "org.hghca.verbs.RdmaDevices",
          "org.hghca.verbs.RdmaMetrics",
          "org.hghca.verbs.RequestAccess");

  /** The packages of vfio, each of which uses only those after it. */
  private static final List<String> VFIO =
      List.of(
          "org.hghca.vfio.kernel",
          "org.hghca.vfio.user",
          "org.hghca.vfio.inprocess",
          "org.hghca.vfio.memory",
          "org.hghca.vfio.direct",
          "org.hghca.vfio.dma",
          "org.hghca.vfio.linux",
          "org.hghca.vfio",
          "org.hghca.vfio.trace");

  /** The packages of the driver, each of which uses only those behind it. */
  private static final List<String> DRIVER =
      List.of(
          "org.hghca.driver.provider",
          "org.hghca.driver",
          "org.hghca.driver.bringup",
          "org.hghca.driver.rtl",
          "org.hghca.driver.rtl.recovery",
          "org.hghca.driver.rtl.ring",
          "org.hghca.driver.object",
          "org.hghca.driver.transition",
          "org.hghca.driver.state",
          "org.hghca.driver.completion",
          "org.hghca.driver.event",
          "org.hghca.driver.ring",
          "org.hghca.driver.memory",
          "org.hghca.driver.card",
          "org.hghca.driver.trace");

  /** Those of them for the makers' RTL. */
  private static final List<String> RTL =
      List.of("org.hghca.driver.rtl", "org.hghca.driver.rtl.recovery", "org.hghca.driver.rtl.ring");

  /** The packages beneath all providers, each of which uses only those behind it. */
  private static final List<String> PROVIDER =
      List.of(
          "org.hghca.provider.object",
          "org.hghca.provider.srq",
          "org.hghca.provider.queue",
          "org.hghca.provider.event",
          "org.hghca.provider.snapshot",
          "org.hghca.provider.counters",
          "org.hghca.provider.address",
          "org.hghca.provider");

  /** The packages of the connection manager, each of which uses only those behind it. */
  private static final List<String> CONNECTION_MANAGER =
      List.of(
          "org.hghca.cm",
          "org.hghca.cm.device",
          "org.hghca.cm.ib",
          "org.hghca.cm.tcp",
          "org.hghca.cm.mad",
          "org.hghca.cm.carrier");

  /** The packages of sockets over RDMA, each of which uses only those behind it. */
  private static final List<String> SOCKETS =
      List.of(
          "org.hghca.sockets",
          "org.hghca.sockets.policy",
          "org.hghca.sockets.stream",
          "org.hghca.sockets.protocol");

  /** The packages of the software HCA, each of which uses only those behind it. */
  private static final List<String> MODEL =
      List.of(
          "org.hghca.model",
          "org.hghca.model.fault",
          "org.hghca.model.virtio",
          "org.hghca.model.rtl.r1",
          "org.hghca.model.rtl.r2",
          "org.hghca.model.rtl",
          "org.hghca.model.hca",
          "org.hghca.model.card",
          "org.hghca.model.transport");

  /** The packages of bring-up, each of which uses only those behind it. */
  private static final List<String> BRINGUP =
      List.of(
          "org.hghca.tools.bringup.command",
          "org.hghca.tools.bringup.compare",
          "org.hghca.tools.bringup.report",
          "org.hghca.tools.bringup",
          "org.hghca.tools.bringup.data",
          "org.hghca.tools.bringup.verbs",
          "org.hghca.tools.bringup.virtio",
          "org.hghca.tools.bringup.register",
          "org.hghca.tools.bringup.board",
          "org.hghca.tools.bringup.step",
          "org.hghca.tools.bringup.cause");

  /** The packages of virtio's interface, each of which uses only those behind it. */
  private static final List<String> VIRTIO_ABI =
      List.of("org.hghca.virtio.abi.roce", "org.hghca.virtio.abi.net", "org.hghca.virtio.abi");

  /** The objects of the verbs on a card, which name each other as the verbs do. */
  private static final Set<String> OBJECTS =
      Set.of(
          "org.hghca.driver.object.DeviceContext",
          "org.hghca.driver.object.HardwareSrq",
          "org.hghca.driver.object.HghcaAddressHandle",
          "org.hghca.driver.object.HghcaCompletionQueue",
          "org.hghca.driver.object.HghcaMemoryRegion",
          "org.hghca.driver.object.HghcaProtectionDomain",
          "org.hghca.driver.object.HghcaQueuePair");

  /** The state flows of the makers' RTL; their package says why they name each other. */
  private static final Set<String> STATE_FLOWS =
      Set.of(
          "org.hghca.driver.rtl.recovery.DeviceRecovery",
          "org.hghca.driver.rtl.recovery.ErrorEntry",
          "org.hghca.driver.rtl.recovery.StateFlowBySoftware",
          "org.hghca.driver.rtl.recovery.SendTimeout",
          "org.hghca.driver.rtl.recovery.SoftwareMaintenance");

  /** The most classes that name each other; their package says why they do. */
  private static final int LARGEST_TANGLE = 6;

  /** Packages with a larger one, and its classes: objects of the verbs, kinds of a message. */
  private static final Map<String, Integer> LARGER_TANGLES =
      Map.of("org.hghca.verbs", 19, "org.hghca.driver.object", 7, "org.hghca.cm.mad", 15);

  /** The objects of the verbs on a virtio device. */
  private static final Set<String> VIRTIO_OBJECTS =
      Set.of(
          "org.hghca.virtio.driver.RoceCompletionQueue",
          "org.hghca.virtio.driver.RoceContext",
          "org.hghca.virtio.driver.RoceMemoryRegion",
          "org.hghca.virtio.driver.RoceProtectionDomain",
          "org.hghca.virtio.driver.RoceQueuePair");

  @Test
  void noCycleOfPackagesIsAdded() {
    Arrows arrows = Arrows.betweenPackages();

    assertThat(arrows.size()).as("packages seen").isGreaterThan(20);
    assertThat(arrows.circles()).containsExactly(API);
  }

  @Test
  void onlyListedClassesOfTheApiUseItsSpi() {
    assertThat(Arrows.betweenClasses().usersOf("org.hghca.verbs.spi"))
        .filteredOn(user -> Arrows.packageOf(user).equals("org.hghca.verbs"))
        .containsExactlyInAnyOrderElementsOf(API_USES_OF_SPI);
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
    assertLayers("org.hghca.driver", DRIVER);
    assertThat(Arrows.betweenPackages().usedBy(DRIVER.getFirst()))
        .as("packages seen")
        .contains(DRIVER.get(1));
  }

  /** How a card that follows the document is driven is read without the makers' RTL. */
  @Test
  void onlyTheBringUpOfTheDriverNamesThePackagesForTheRtl() {
    assertThat(usersOutside(RTL.getFirst(), RTL)).containsExactly("org.hghca.driver.bringup");
    for (String beneath : RTL.subList(1, RTL.size())) {
      assertThat(usersOutside(beneath, RTL)).as(beneath).isEmpty();
    }
  }

  private static Set<String> usersOutside(String used, List<String> packages) {
    return Arrows.betweenClasses().usersOf(used).stream()
        .map(Arrows::packageOf)
        .filter(user -> !packages.contains(user))
        .collect(Collectors.toSet());
  }

  @Test
  void packagesOfVfioAreLayers() {
    assertLayers("org.hghca.vfio", VFIO);
  }

  @Test
  void packagesOfTheProviderAreLayers() {
    assertLayers("org.hghca.provider", PROVIDER);
    assertThat(Arrows.betweenPackages().usedBy(PROVIDER.getFirst()))
        .as("packages seen")
        .contains(PROVIDER.getLast());
  }

  @Test
  void packagesOfTheConnectionManagerAreLayers() {
    assertLayers("org.hghca.cm", CONNECTION_MANAGER);
  }

  @Test
  void packagesOfSocketsAreLayers() {
    assertLayers("org.hghca.sockets", SOCKETS);
    assertThat(Arrows.betweenPackages().usedBy(SOCKETS.getFirst()))
        .as("packages seen")
        .contains("org.hghca.sockets.stream");
  }

  @Test
  void packagesOfTheSoftwareHcaAreLayers() {
    assertLayers("org.hghca.model", MODEL);
    assertThat(Arrows.betweenPackages().usedBy(MODEL.getFirst()))
        .as("packages seen")
        .containsAll(MODEL.subList(1, MODEL.size()));
  }

  @Test
  void packagesOfBringUpAreLayers() {
    assertLayers("org.hghca.tools.bringup", BRINGUP);
    assertThat(Arrows.betweenPackages().usedBy(BRINGUP.getFirst()))
        .as("packages seen")
        .contains(BRINGUP.get(1));
  }

  @Test
  void packagesOfTheInterfaceOfVirtioAreLayersAndUseNoOtherModule() {
    assertLayers("org.hghca", VIRTIO_ABI);
    assertThat(Arrows.betweenPackages().usedBy(VIRTIO_ABI.getFirst()))
        .as("packages seen")
        .contains(VIRTIO_ABI.getLast());
  }

  private static void assertLayers(String module, List<String> packages) {
    Arrows arrows = Arrows.betweenPackages();
    for (int at = 0; at < packages.size(); at++) {
      List<String> below = packages.subList(at + 1, packages.size());
      assertThat(arrows.usedBy(packages.get(at)))
          .as(packages.get(at))
          .filteredOn(name -> name.startsWith(module))
          .isSubsetOf(below);
    }
  }

  @Test
  void onlyTwoCyclesOfClassesAreInTheDriver() {
    assertThat(circlesOf("org.hghca.driver")).containsExactlyInAnyOrder(OBJECTS, STATE_FLOWS);
  }

  @Test
  void onlyTheObjectsOfTheVerbsAreACycleInTheDriverOfVirtio() {
    assertThat(circlesOf("org.hghca.virtio.driver")).containsExactly(VIRTIO_OBJECTS);
  }

  /** What users name, what waits in what, and the two sides of the second RTL. */
  @Test
  void cyclesOfClassesInTheSoftwareHcaAreFew() {
    assertThat(circlesOf("org.hghca.model"))
        .containsExactlyInAnyOrder(
            Set.of(
                "org.hghca.model.Cable",
                "org.hghca.model.Hub",
                "org.hghca.model.Simulation",
                "org.hghca.model.SoftwareHca"),
            Set.of("org.hghca.model.transport.PeerLoad", "org.hghca.model.transport.Turn"),
            Set.of("org.hghca.model.rtl.r2.R2Engine", "org.hghca.model.rtl.r2.SendSide"));
  }

  @Test
  void noCycleOfClassesIsLarge() {
    Map<String, Integer> larger =
        Arrows.betweenClasses().circles().stream()
            .filter(circle -> circle.size() > LARGEST_TANGLE)
            .collect(
                Collectors.toMap(
                    circle -> Arrows.packageOf(circle.iterator().next()), Set::size, Math::max));

    assertThat(larger).isEqualTo(LARGER_TANGLES);
  }

  private static List<Set<String>> circlesOf(String module) {
    return Arrows.betweenClasses().circles().stream()
        .filter(circle -> circle.iterator().next().startsWith(module + "."))
        .toList();
  }

  /** Modules for any provider know no card, nor does the module of packets between ports. */
  @Test
  void modulesIndependentOfTheCardUseNoCardModule() {
    for (String provider : PROVIDER) {
      assertThat(Arrows.betweenPackages().usedBy(provider))
          .filteredOn(name -> !PROVIDER.contains(name))
          .isSubsetOf(
              "org.hghca.linux",
              "org.hghca.log",
              "org.hghca.verbs",
              "org.hghca.verbs.spi",
              "org.hghca.vfio",
              "org.hghca.vfio.memory");
    }
    assertThat(Arrows.betweenPackages().usedBy("org.hghca.verbs")).isSubsetOf(API);
    assertThat(Arrows.betweenPackages().usedBy("org.hghca.virtio"))
        .isSubsetOf(
            "org.hghca.vfio",
            "org.hghca.vfio.trace",
            "org.hghca.virtio.abi",
            "org.hghca.virtio.abi.net")
        .isNotEmpty();
    assertThat(Arrows.betweenPackages().usedBy("org.hghca.virtio.driver"))
        .isSubsetOf(
            "org.hghca.provider",
            "org.hghca.provider.address",
            "org.hghca.provider.counters",
            "org.hghca.provider.event",
            "org.hghca.provider.object",
            "org.hghca.provider.queue",
            "org.hghca.provider.srq",
            "org.hghca.verbs",
            "org.hghca.verbs.spi",
            "org.hghca.vfio",
            "org.hghca.vfio.direct",
            "org.hghca.vfio.memory",
            "org.hghca.vfio.trace",
            "org.hghca.virtio",
            "org.hghca.virtio.abi",
            "org.hghca.virtio.abi.net",
            "org.hghca.virtio.abi.roce");
    assertThat(Arrows.betweenPackages().usedBy("org.hghca.wire")).isSubsetOf("org.hghca.linux");
    assertThat(Arrows.betweenPackages().usedBy("org.hghca.linux")).isEmpty();
  }
}
