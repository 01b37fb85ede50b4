package org.hghca.vfio.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.hghca.vfio.DmaAccess;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.Interrupts;
import org.hghca.vfio.Locator;
import org.hghca.vfio.MmioRegion;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A function of the kernel's VFIO, over a kernel that is made up. */
class KernelFunctionTest {
  private static final String CARD = "0000:03:00.0";
  private static final long SOON = TimeUnit.SECONDS.toNanos(20);

  @TempDir Path root;
  private FakeMachine machine;
  private final FakeCard card = new FakeCard(CARD, 17);
  private final FakeVfio vfio = new FakeVfio().card(card, "/dev/vfio/devices/vfio3");
  private KernelSystem system;

  @BeforeEach
  void card() {
    machine = new FakeMachine(root).readyCard(CARD);
    machine.text("/proc/sys/kernel/osrelease", "6.14.0-29-generic\n");
    machine.text("/proc/self/limits", "Max locked memory         8388608    8388608    bytes\n");
    system = new KernelSystem(vfio.system, machine);
  }

  @AfterEach
  void nothingIsLeftOpen() {
    assertThat(vfio.leaks()).isEmpty();
  }

  private PciFunction open(String parameters) {
    return open(CARD, parameters);
  }

  private PciFunction open(String address, String parameters) {
    return new KernelProvider(machine, system)
        .open(Locator.parse("pci:" + address + (parameters.isEmpty() ? "" : "?" + parameters)));
  }

  private void assertRefused(String parameters, Reason reason, String... message) {
    assertThatThrownBy(() -> open(parameters))
        .isInstanceOfSatisfying(VfioException.class, e -> assertThat(e.reason()).isEqualTo(reason))
        .hasMessageContainingAll(message);
  }

  private static MemorySegment shared(long bytes) {
    return Arena.ofAuto().allocate(bytes, 4096);
  }

  @Test
  void groupThenContainerThenIommuThenFunction() {
    open("").close();

    assertThat(vfio.calls.stream().filter(call -> !call.startsWith("p")).toList())
        .containsSubsequence(
            "VFIO_GROUP_GET_STATUS Group",
            "VFIO_GROUP_SET_CONTAINER Group",
            "VFIO_SET_IOMMU Container",
            "VFIO_GROUP_GET_DEVICE_FD Group",
            "VFIO_DEVICE_GET_INFO Device",
            "close Device",
            "close Group",
            "close Container");
  }

  @Test
  void ownNodeIsBoundToAnAddressSpaceAndIsPreferred() {
    machine.iommufd(CARD);

    open("").close();

    assertThat(vfio.calls.stream().filter(call -> !call.startsWith("p")).toList())
        .containsSubsequence(
            "IOMMU_IOAS_ALLOC Iommufd",
            "VFIO_DEVICE_BIND_IOMMUFD Device", // before all else of the function
            "VFIO_DEVICE_ATTACH_IOMMUFD_PT Device",
            "IOMMU_IOAS_IOVA_RANGES Iommufd", // after the function was attached
            "VFIO_DEVICE_GET_INFO Device",
            "VFIO_DEVICE_DETACH_IOMMUFD_PT Device",
            "close Device",
            "IOMMU_DESTROY Iommufd",
            "close Iommufd");
  }

  @Test
  void groupIsTakenWhenTheLocatorSaysSo() {
    machine.iommufd(CARD);

    open("iommu=group").close();

    assertThat(vfio.calls)
        .contains("VFIO_GROUP_GET_DEVICE_FD Group")
        .doesNotContain("VFIO_DEVICE_BIND_IOMMUFD Device");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "iommu=noiommu"})
  void functionWithoutAnIommuIsOpenedAndReachesNoForeignMemory(String parameters) {
    machine.text("/sys/kernel/iommu_groups/17/name", "vfio-noiommu\n");
    machine.node("/dev/vfio/noiommu-17");

    try (PciFunction function = open(parameters)) {
      assertThat(function.configuration().deviceId()).isEqualTo(0x9038);
      function.region(2).writeInt(0, 1);
      function.reset();
      assertThat(function.interrupts().vectors()).isEqualTo(32);
      assertThatThrownBy(() -> function.map(shared(4096), DmaAccess.READ))
          .isInstanceOfSatisfying(
              VfioException.class, e -> assertThat(e.reason()).isEqualTo(Reason.INVALID))
          .hasMessageContainingAll("without an IOMMU", "protection domain");
    }
    assertThat(vfio.calls).contains("open " + machine.file("/dev/vfio/noiommu-17"));
  }

  @Test
  void containerWithoutTheSecondTypeGetsTheFirst() {
    vfio.secondType = false;

    try (PciFunction function = open("")) {
      assertThat(function.configuration().deviceId()).isEqualTo(0x9038);
    }
  }

  @Test
  void otherVersionOfTheInterfaceIsRefused() {
    vfio.api = 1;

    assertRefused("", Reason.UNSUPPORTED, "version 1 of VFIO");
  }

  @Test
  void iommuWithoutSmallPagesIsRefused() {
    vfio.pageSizes = 0x1_0000;

    assertRefused("", Reason.UNSUPPORTED, "0x10000", "4 KiB");
  }

  @Test
  void addressSpaceWithoutSmallPagesIsRefused() {
    machine.iommufd(CARD);
    vfio.alignment = 0x1_0000;

    assertRefused("", Reason.UNSUPPORTED, "0x10000", "4 KiB");
  }

  @Test
  void secondOpeningInOneProcessIsRefusedAndPossibleAfterwards() {
    try (PciFunction function = open("")) {
      assertRefused("", Reason.BUSY, CARD + " is open in this process");
      assertThat(function.configuration().deviceId()).isEqualTo(0x9038);
    }
    open("").close();
  }

  @Test
  void groupThatAnotherProcessHasIsBusy() {
    int other = vfio.system.open("/dev/vfio/17", 2);

    assertRefused("", Reason.BUSY, "cannot open", "/dev/vfio/17", "EBUSY");

    assertThat(vfio.system.close(other)).isZero();
  }

  @Test
  void busMasteringIsOffUntilTheDriverSwitchesItOnAndAfterTheEnd() {
    try (PciFunction function = open("")) {
      assertThat(card.isBusMaster()).isFalse();
      function.configuration().busMaster(true);
      assertThat(card.isBusMaster()).isTrue();
    }

    assertThat(card.isBusMaster()).isFalse();
  }

  @Test
  void endStopsTheDeviceBeforeItTakesMemoryAway() {
    PciFunction function = open("");
    function.region(2).writeInt(0, 1);
    assertThat(function.interrupts().vectors()).isEqualTo(32);
    DmaMapping mapping = function.map(shared(4096), DmaAccess.READ_WRITE);
    function.configuration().busMaster(true);
    vfio.calls.clear();

    function.close();
    function.close();

    assertThat(vfio.calls)
        .containsSubsequence(
            "pwrite Device", // bus mastering off
            "VFIO_DEVICE_SET_IRQS Device", // interrupts off
            "VFIO_IOMMU_UNMAP_DMA Container", // memory
            "munmap", // registers
            "close Device",
            "close Group",
            "close Container");
    assertThat(vfio.mapped()).isEmpty();
    mapping.close();
  }

  @Test
  void contiguousMemoryIsOneMappingHoweverLargeItIs() {
    long bytes = 1L << 30;
    try (PciFunction function = open("")) {
      vfio.calls.clear();

      DmaMapping mapping =
          function.map(FakeVfio.memory(0x7f00_0000_0000L, bytes), DmaAccess.READ_WRITE);

      assertThat(vfio.calls).containsExactly("VFIO_IOMMU_MAP_DMA Container");
      assertThat(vfio.mapped()).containsValue(bytes).hasSize(1);
      mapping.close();
      assertThat(vfio.mapped()).isEmpty();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"group", "iommufd"})
  void addressesAreTakenFromTheRangesThatTheKernelAllows(String way) {
    machine.iommufd(CARD);
    vfio.ranges = new long[][] {{0, 0x1_ffff}, {0x10_0000, 0x10_7fff}, {1L << 32, (1L << 33) - 1}};

    try (PciFunction function = open("iommu=" + way)) {
      assertThat(function.map(shared(0x1_0000), DmaAccess.READ).iova(0)).isEqualTo(0x1_0000);
      assertThat(function.map(shared(0x8000), DmaAccess.READ).iova(0)).isEqualTo(0x10_0000);
      assertThat(function.map(shared(0x8000), DmaAccess.READ).iova(0)).isEqualTo(1L << 32);
    }
  }

  @Test
  void addressesOfInterruptsAreAvoidedWhereTheKernelTellsNoRanges() {
    vfio.tellsRanges = false;
    long bytes = 1L << 30;

    try (PciFunction function = open("")) {
      for (int i = 0; i < 6; i++) {
        // The kernel that is made up refuses what lies in 0xfee00000 to 0xfeefffff.
        function.map(
            FakeVfio.memory(0x7f00_0000_0000L + 2L * i * bytes, bytes), DmaAccess.READ_WRITE);
      }
      assertThat(vfio.mapped()).hasSize(6);
    }
  }

  @Test
  void addressSpaceWithMoreRangesThanUsualTellsThemAll() {
    machine.iommufd(CARD);
    vfio.ranges = new long[20][];
    for (int i = 0; i < 20; i++) {
      vfio.ranges[i] = new long[] {(i + 1L) << 20, ((i + 1L) << 20) + 0xfff};
    }

    try (PciFunction function = open("")) {
      for (int i = 0; i < 20; i++) {
        assertThat(function.map(shared(4096), DmaAccess.READ).iova(0)).isEqualTo((i + 1L) << 20);
      }
    }
  }

  private void assertNotMapped(int answer, Reason reason, String... message) {
    vfio.mapAnswer = answer;
    try (PciFunction function = open("")) {
      assertThatThrownBy(() -> function.map(shared(8192), DmaAccess.READ_WRITE))
          .isInstanceOfSatisfying(
              VfioException.class, e -> assertThat(e.reason()).isEqualTo(reason))
          .hasMessageContainingAll(message)
          .hasMessageContaining("0x2000 bytes");
    }
  }

  @Test
  void limitOfLockedMemoryIsNamedWithItsValue() {
    machine.text("/proc/self/status", "CapEff:\t0000000000000000\n");
    assertNotMapped(
        -12, Reason.NO_MEMORY, "RLIMIT_MEMLOCK is 8 MiB for this process", "ulimit -l", "65535");
  }

  @Test
  void limitOfLockedMemoryIsNotBlamedWhereItDoesNotCount() {
    assertNotMapped(-12, Reason.NO_MEMORY, "CAP_IPC_LOCK", "control group");
    machine.text("/proc/self/status", "CapEff:\t0000000000000000\n");
    machine.text("/proc/self/limits", "Max locked memory         unlimited   unlimited    bytes\n");
    assertNotMapped(-12, Reason.NO_MEMORY, "RLIMIT_MEMLOCK is unlimited", "control group");
  }

  @Test
  void memoryThatAnEarlierProcessLeftInAContainerIsNamed() {
    assertNotMapped(-17, Reason.BUSY, "EEXIST", "must reopen it");
  }

  @Test
  void limitOfMappingsIsNamed() {
    assertNotMapped(-28, Reason.NO_MEMORY, "dma_entry_limit");
  }

  @Test
  void limitOfMappingsIsNamedWhenNoneIsLeft() {
    vfio.mappingsLeft = 0;
    assertNotMapped(-12, Reason.NO_MEMORY, "dma_entry_limit");
  }

  @ParameterizedTest
  @ValueSource(ints = {-14, -95, -22})
  void memoryOfOrdinaryFilesIsNamedWhereTheKernelRefusesToPinIt(int answer) {
    assertNotMapped(answer, Reason.INVALID, "ordinary file", "tmpfs", "hugetlbfs", "memfd");
  }

  @Test
  void registersAreMappedMemory() {
    try (PciFunction function = open("")) {
      MmioRegion doorbells = function.region(2);

      assertThat(doorbells.isMapped()).isTrue();
      assertThat(doorbells.size()).isEqualTo(8 << 20);
      vfio.calls.clear();
      doorbells.writeLong(0x1000, 0x1122_3344_5566_7788L);
      card.register(2, 0x2000, 0x99aa_bbcc);

      assertThat(doorbells.readInt(0x2000)).isEqualTo(0x99aa_bbcc);
      assertThat(card.register(2, 0x1000)).isEqualTo(0x1122_3344_5566_7788L);
      assertThat(vfio.calls).isEmpty();
      assertThat(function.region(2)).isSameAs(doorbells);
    }
  }

  @Test
  void registersThatTheFunctionDoesNotHaveAreRefused() {
    try (PciFunction function = open("")) {
      for (int bar : new int[] {-1, 1, 6, 7}) {
        assertThatThrownBy(() -> function.region(bar)).hasMessageContaining("has no BAR" + bar);
      }
    }
  }

  @Test
  void registersThatCannotBeMappedAreReadAndWritten() {
    card.regionFlags[0] = 3;

    try (PciFunction function = open("")) {
      MmioRegion registers = function.region(0);
      assertThat(registers.isMapped()).isFalse();
      vfio.calls.clear();
      registers.writeLong(8, 0x1122_3344_5566_7788L);
      registers.writeInt(16, 0x99aa_bbcc);

      assertThat(card.register(0, 8)).isEqualTo(0x1122_3344_5566_7788L);
      assertThat(registers.readInt(8)).isEqualTo(0x5566_7788);
      assertThat(registers.readLong(16)).isEqualTo(0x99aa_bbccL);
      assertThat(vfio.calls)
          .containsExactly("pwrite Device", "pwrite Device", "pread Device", "pread Device");
    }
  }

  @Test
  void registersThatTheKernelDoesNotMapAfterAllAreReadAndWritten() {
    card.sparse[0] = new long[] {0x1000, 0x1000};
    card.regionFlags[0] = 3 | 4;
    vfio.refusedMaps = true;

    try (PciFunction function = open("")) {
      function.region(0).writeInt(0x1000, 5);
      assertThat(card.register(0, 0x1000)).isEqualTo(5);
    }
  }

  @Test
  void partsOfRegistersThatCanBeMappedAreMapped() {
    card.sparse[2] = new long[] {0, 0x10_0000, 0x20_0000, 0x1000};

    try (PciFunction function = open("")) {
      MmioRegion doorbells = function.region(2);
      assertThat(doorbells.isMapped()).isTrue();
      assertThat(doorbells.size()).isEqualTo(8 << 20);
      vfio.calls.clear();
      doorbells.writeLong(0xf_fff8, 1);
      doorbells.writeLong(0x20_0ff8, 2);
      assertThat(vfio.calls).isEmpty();
      doorbells.writeLong(0x10_0000, 3);
      doorbells.writeInt(0x20_1000, 4);
      assertThat(vfio.calls).containsExactly("pwrite Device", "pwrite Device");

      assertThat(card.register(2, 0xf_fff8)).isEqualTo(1);
      assertThat(card.register(2, 0x20_0ff8)).isEqualTo(2);
      assertThat(card.register(2, 0x10_0000)).isEqualTo(3);
      assertThat(card.register(2, 0x20_1000)).isEqualTo(4);
      assertThat(doorbells.readLong(0x20_0ff8)).isEqualTo(2);
      assertThat(doorbells.readInt(0x10_0000)).isEqualTo(3);
      assertThatThrownBy(() -> doorbells.readInt(8 << 20))
          .isInstanceOf(IndexOutOfBoundsException.class);
      assertThatThrownBy(() -> doorbells.readLong(0x10_0004))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void registersThatBeginUnmappedAreReachedEitherWay() {
    card.sparse[0] = new long[] {0x1000, 0xf_f000};

    try (PciFunction function = open("")) {
      MmioRegion registers = function.region(0);
      assertThat(registers.isMapped()).isFalse();
      vfio.calls.clear();
      registers.writeInt(0x1000, 7);
      assertThat(registers.readInt(0x1000)).isEqualTo(7);
      assertThat(vfio.calls).isEmpty();
      registers.writeInt(0xff8, 8);
      assertThat(registers.readInt(0xff8)).isEqualTo(8);
      assertThat(vfio.calls).containsExactly("pwrite Device", "pread Device");
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"6.1.0-42-amd64", "6.11.4", "6.12.9-amd64", "6.12-rc1", "6.13.7-arch1", "strange"})
  void kernelThatSplitsAnAccessOfEightBytesIsNotGivenOne(String release) {
    machine.text("/proc/sys/kernel/osrelease", release + "\n");
    card.regionFlags[2] = 3;

    try (PciFunction function = open("")) {
      MmioRegion doorbells = function.region(2);
      doorbells.writeInt(0, 1);
      assertThatThrownBy(() -> doorbells.writeLong(0, 0x2_0000_0002L))
          .isInstanceOf(VfioException.class)
          .hasMessageContainingAll("BAR2", release, "two of 4", "6.14", "6.12.16");
      assertThat(card.register(2, 0)).isEqualTo(1);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"6.12.16", "6.12.41+deb13-amd64", "6.14.0-29-generic", "6.18.44", "7.0"})
  void kernelThatMakesOneAccessOfEightBytesIsGivenIt(String release) {
    machine.text("/proc/sys/kernel/osrelease", release + "\n");
    card.regionFlags[2] = 3;

    try (PciFunction function = open("")) {
      function.region(2).writeLong(0, 0x2_0000_0002L);
      assertThat(card.register(2, 0)).isEqualTo(0x2_0000_0002L);
    }
  }

  @Test
  void registersAreGoneBeforeTheFunctionIsLetGo() {
    machine.text("/proc/sys/kernel/osrelease", "6.1.0-42-amd64\n");
    card.regionFlags[0] = 3;
    try (DeviceFile device = new DeviceFile(vfio.system, vfio.openDevice(card, false))) {
      Bars bars =
          new Bars(vfio.system, device, Locator.parse("pci:" + CARD), KernelRelease.of(machine));
      List<MmioRegion> regions = List.of(bars.region(0), bars.region(2));
      bars.close();
      vfio.calls.clear();

      for (MmioRegion region : regions) {
        region.writeLong(0, 1);
        assertThat(region.readLong(0)).isEqualTo(-1);
        assertThat(region.readInt(0)).isEqualTo(-1);
      }
      assertThat(vfio.calls).isEmpty();
    }
  }

  @Test
  void registersReadAllOnesAfterTheEnd() {
    MmioRegion mapped;
    MmioRegion called;
    card.regionFlags[0] = 3;
    try (PciFunction function = open("")) {
      mapped = function.region(2);
      called = function.region(0);
    }

    for (MmioRegion region : List.of(mapped, called)) {
      assertThat(region.readInt(0)).isEqualTo(-1);
      assertThat(region.readLong(8)).isEqualTo(-1);
      region.writeInt(0, 1);
      region.writeLong(8, 1);
    }
    assertThat(card.register(2, 0)).isZero();
    assertThat(card.register(0, 0)).isZero();
  }

  @Test
  void afterTheEndEverythingElseSaysSo() {
    PciFunction function = open("");
    DmaMapping mapping = function.allocate(4096);
    function.close();

    assertThat(function.canReset()).isTrue();
    assertThat(function.dmaFaults()).isEmpty();
    assertThat(function.locator()).isEqualTo(Locator.parse("pci:" + CARD));
    mapping.close();
    List<Runnable> calls =
        List.of(
            function::configuration,
            function::interrupts,
            function::reset,
            () -> function.region(0),
            () -> function.allocate(1),
            () -> function.map(shared(1), DmaAccess.READ));
    for (Runnable call : calls) {
      assertThatThrownBy(call::run)
          .isInstanceOfSatisfying(
              VfioException.class, e -> assertThat(e.reason()).isEqualTo(Reason.CLOSED));
    }
  }

  @Test
  void bestInterruptsAreTakenWithAllVectorsAtOnce() {
    try (PciFunction function = open("")) {
      Interrupts interrupts = function.interrupts();

      assertThat(interrupts.vectors()).isEqualTo(32);
      assertThat(card.signals[VfioAbi.MSIX_IRQ]).hasSize(32).doesNotHaveDuplicates();
      card.raise(VfioAbi.MSIX_IRQ, 31);
      card.raise(VfioAbi.MSIX_IRQ, 0);
      assertThat(interrupts.await(SOON)).isEqualTo(1L << 31 | 1);
      assertThat(interrupts.await(0)).isZero();
    }
    assertThat((Object[]) card.signals).containsOnlyNulls();
  }

  @Test
  void moreVectorsThanThereAreBitsAreNotTaken() {
    card.irqs[VfioAbi.MSIX_IRQ] = 2048;

    try (PciFunction function = open("")) {
      assertThat(function.interrupts().vectors()).isEqualTo(64);
      assertThat(card.signals[VfioAbi.MSIX_IRQ]).hasSize(64);
    }
  }

  @Test
  void asManyVectorsAreTakenAsTheSystemHasLeft() {
    card.vectorsLeft = 3;

    try (PciFunction function = open("")) {
      assertThat(function.interrupts().vectors()).isEqualTo(3);
      assertThat(card.signals[VfioAbi.MSIX_IRQ]).hasSize(3);
    }
  }

  @Test
  void lineIsTakenWhereThereIsNothingElseAndUnmaskedWhenItWasSeenTo() {
    card.vectorsLeft = 0;

    try (PciFunction function = open("")) {
      Interrupts interrupts = function.interrupts();
      assertThat(interrupts.vectors()).isEqualTo(1);
      for (int i = 0; i < 3; i++) {
        card.raise(VfioAbi.INTX_IRQ, 0);
        assertThat(interrupts.await(SOON)).isEqualTo(1);
        assertThat(card.unmasked).isEqualTo(i);
        assertThat(interrupts.await(0)).isZero();
        assertThat(card.unmasked).isEqualTo(i + 1);
      }
    }
  }

  @Test
  void interruptsAreOfTheKindThatTheLocatorNames() {
    try (PciFunction function = open("interrupts=msi")) {
      assertThat(function.interrupts().vectors()).isEqualTo(8);
      assertThat(card.signals[VfioAbi.MSI_IRQ]).hasSize(8);
    }
    try (PciFunction function = open("interrupts=none")) {
      assertThat(function.interrupts().vectors()).isZero();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {VfioAbi.ERR_IRQ, VfioAbi.REQ_IRQ})
  void functionThatFailsOrIsWantedBackIsLetGoAtOnce(int event) {
    try (PciFunction function = open("")) {
      MmioRegion registers = function.region(0);
      Interrupts interrupts = function.interrupts();
      DmaMapping ring = function.allocate(4096);
      function.configuration().busMaster(true);
      vfio.calls.clear();

      card.raise(event, 0);

      for (int i = 0; i < 2; i++) {
        assertThatThrownBy(() -> interrupts.await(SOON))
            .isInstanceOfSatisfying(
                VfioException.class, e -> assertThat(e.reason()).isEqualTo(Reason.CLOSED))
            .hasMessageContaining(CARD);
      }
      assertThat(vfio.calls).contains("close Device").doesNotContain("close Container");
      assertThat(card.isBusMaster()).isFalse();
      assertThat(registers.readInt(0)).isEqualTo(-1);
      assertThat(function.region(2).readLong(0)).isEqualTo(-1);
      assertThat(function.configuration().vendorId()).isEqualTo(0xffff);
      function.configuration().busMaster(true);
      assertThatThrownBy(function::reset).hasMessageContaining(CARD);
      assertThatThrownBy(() -> function.allocate(1)).hasMessageContaining(CARD);
      // What a driver still reads of its rings is there, and goes back as always.
      assertThat(ring.segment().get(ValueLayout.JAVA_INT, 0)).isZero();
      ring.close();
    }
  }

  @Test
  void functionThatCanBeResetIs() {
    try (PciFunction function = open("")) {
      assertThat(function.canReset()).isTrue();
      function.reset();
      assertThat(card.resets).isEqualTo(1);
    }
  }

  @Test
  void resetThatSomethingElseKeepsAwaySaysSo() {
    card.resetAnswer = -11;

    try (PciFunction function = open("")) {
      assertThatThrownBy(function::reset)
          .isInstanceOfSatisfying(
              VfioException.class, e -> assertThat(e.reason()).isEqualTo(Reason.BUSY))
          .hasMessageContainingAll(CARD, "was not reset", "EAGAIN", "try again");
    }
  }

  @Test
  void functionAloneOnItsBusIsResetWithIt() {
    card.flags = 2;
    card.together = List.of(new int[] {17, 3, 0});

    try (PciFunction function = open("")) {
      assertThat(function.canReset()).isTrue();
      function.reset();
      assertThat(card.resets).isEqualTo(1);
      assertThat(card.hotResetProofs).hasSize(1); // the descriptor of the group
    }
  }

  @Test
  void iommufdFunctionIsResetWithABusThatIsAllOurs() {
    machine.iommufd(CARD);
    card.flags = 2;
    card.hotResetFlags = 3;
    card.together = List.of(new int[] {1, 3, 0}, new int[] {0, 3, 1});

    try (PciFunction function = open("")) {
      function.reset();
      assertThat(card.resets).isEqualTo(1);
      assertThat(card.hotResetProofs).isEmpty();
    }
    card.hotResetFlags = 1;
    try (PciFunction function = open("")) {
      assertThat(function.canReset()).isFalse();
    }
  }

  @Test
  void functionThatSharesItsBusWithSomebodyElseCannotBeReset() {
    card.flags = 2;
    card.together = List.of(new int[] {17, 3, 0}, new int[] {18, 3, 8});

    try (PciFunction function = open("")) {
      assertThat(function.canReset()).isFalse();
      assertThatThrownBy(function::reset)
          .isInstanceOfSatisfying(
              VfioException.class, e -> assertThat(e.reason()).isEqualTo(Reason.UNSUPPORTED));
    }
    assertThat(card.resets).isZero();
  }

  @Test
  void otherFunctionOfThisProcessIsNotResetAlong() {
    FakeCard second = second(17);
    card.flags = 2;
    card.together = List.of(new int[] {17, 3, 0}, new int[] {17, 3, 1});

    try (PciFunction function = open("")) {
      try (PciFunction other = open(second.address, "")) {
        assertThatThrownBy(function::reset).hasMessageContaining(other.locator().name());
      }
      function.reset();
    }
    assertThat(card.resets).isEqualTo(1);
  }

  private FakeCard second(int group) {
    FakeCard second = new FakeCard("0000:03:00.1", group);
    vfio.card(second, "/dev/vfio/devices/vfio4");
    machine.function(second.address, "10ee:9038", "020700").driver(second.address, "vfio-pci");
    machine.group(group, CARD, second.address);
    if (group != 17) {
      machine.group(17, CARD);
    }
    machine.node("/dev/vfio/" + group);
    machine.directory(FakeMachine.real(second.address) + "/vfio-dev/vfio4");
    machine.node("/dev/vfio/devices/vfio4");
    return second;
  }

  @Test
  void functionsOfOneGroupShareItAndItsAddresses() {
    FakeCard second = second(17);
    MemorySegment memory = shared(4096);

    PciFunction one = open("");
    long first = one.map(memory, DmaAccess.READ).iova(0);
    try (PciFunction other = open(second.address, "")) {
      assertThat(other.map(memory, DmaAccess.READ).iova(0)).isEqualTo(first);
      one.close();
      assertThat(vfio.mapped()).containsKey(first);
      assertThat(other.configuration().deviceId()).isEqualTo(0x9038);
    }
    assertThat(vfio.calls.stream().filter("VFIO_GROUP_SET_CONTAINER Group"::equals)).hasSize(1);
  }

  @Test
  void functionsOfOneGroupCannotHaveTwoContainers() {
    FakeCard second = second(17);

    try (PciFunction one = open("container=a")) {
      assertThatThrownBy(() -> open(second.address, "container=b"))
          .hasMessageContainingAll("group 17", "'a'");
      assertThat(one.configuration().deviceId()).isEqualTo(0x9038);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"group", "iommufd"})
  void functionsThatNameOneContainerShareItsAddresses(String way) {
    FakeCard second = second(18);
    machine.iommufd(CARD);
    String shared = "iommu=%s&container=ours".formatted(way);

    try (PciFunction one = open(shared);
        PciFunction other = open(second.address, shared)) {
      MemorySegment memory = shared(8192);
      long first = one.map(memory, DmaAccess.READ_WRITE).iova(0);
      assertThat(other.map(memory, DmaAccess.READ_WRITE).iova(0)).isEqualTo(first);
      assertThat(vfio.mapped()).isEqualTo(Map.of(first, 8192L));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"group", "iommufd"})
  void functionsThatNameNoContainerHaveTheirOwn(String way) {
    FakeCard second = second(18);
    machine.iommufd(CARD);

    try (PciFunction one = open("iommu=" + way);
        PciFunction other = open(second.address, "iommu=" + way)) {
      long first = one.map(shared(4096), DmaAccess.READ).iova(0);
      assertThat(other.map(shared(4096), DmaAccess.READ).iova(0)).isEqualTo(first);
    }
  }

  @Test
  void containersOfTwoWaysAreNotMixed() {
    FakeCard second = second(18);
    machine.iommufd(CARD);

    try (PciFunction one = open("iommu=group&container=ours")) {
      assertThatThrownBy(() -> open(second.address, "iommu=iommufd&container=ours"))
          .hasMessageContaining("'ours'");
      assertThat(one.configuration().deviceId()).isEqualTo(0x9038);
    }
  }

  @Test
  void functionThatReachesLessTakesTheRestFromTheContainer() {
    FakeCard second = second(18);
    vfio.ranges = new long[][] {{0, 0x1_ffff}, {1L << 32, (1L << 33) - 1}};

    try (PciFunction one = open("container=ours")) {
      vfio.ranges = new long[][] {{1L << 32, (1L << 33) - 1}};
      try (PciFunction other = open(second.address, "container=ours")) {
        assertThat(one.map(shared(4096), DmaAccess.READ).iova(0)).isEqualTo(1L << 32);
        assertThat(other.map(shared(4096), DmaAccess.READ).iova(0)).isEqualTo((1L << 32) + 4096);
      }
    }
  }

  @Test
  void functionThatSomebodyElseHasOpenedIsTakenAndLeftToHim() {
    int device = vfio.openDevice(card, true);
    int iommufd = vfio.openIommufd();
    String descriptors = "fd=%d&iommufd=%d".formatted(device, iommufd);

    for (int i = 0; i < 2; i++) { // a descriptor is bound once for all
      try (PciFunction function = open(descriptors)) {
        assertThat(function.configuration().deviceId()).isEqualTo(0x9038);
        function.configuration().busMaster(true);
        assertThat(function.interrupts().vectors()).isEqualTo(32);
        function.map(shared(4096), DmaAccess.READ);
      }
      // The kernel cleans up after the last descriptor only: this is up to us.
      assertThat(vfio.mapped()).isEmpty();
      assertThat(card.isBusMaster()).isFalse();
      assertThat((Object[]) card.signals).containsOnlyNulls();
    }
    assertThat(vfio.leaks()).hasSize(2);
    assertThat(vfio.system.close(device)).isZero();
    assertThat(vfio.system.close(iommufd)).isZero();
  }

  @Test
  void inheritedFunctionAndContainerAreUsedAndLeftOpen() {
    int device = vfio.openDevice(card, false);
    int container = vfio.openContainer();

    try (PciFunction function = open("fd=%d&container=fd:%d".formatted(device, container))) {
      assertThat(function.configuration().deviceId()).isEqualTo(0x9038);
      function.map(shared(4096), DmaAccess.READ);
      assertThat(vfio.mapped()).hasSize(1);
    }

    assertThat(vfio.mapped()).isEmpty();
    assertThat(vfio.leaks()).hasSize(2);
    assertThat(vfio.system.close(device)).isZero();
    assertThat(vfio.system.close(container)).isZero();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "fd=7",
        "iommufd=7",
        "container=fd:7",
        "fd=7&iommufd=8&container=fd:9",
        "fd=x&iommufd=7",
        "fd=-1&iommufd=7",
        "fd=7&iommufd=8&bind=true",
        "fd=7&iommufd=8&iommu=group",
        "bind=yes",
        "interrupts=some",
        "profile=s",
        "iommu=best"
      })
  void parametersThatAreNotUnderstoodAreRefused(String parameters) {
    assertRefused(parameters, Reason.INVALID, "=");
    assertThat(vfio.calls).isEmpty();
  }

  @Test
  void parametersOfTheDriverAreLeftToIt() {
    open("as=r1&hcr=0x0&assumeClean=true&limit=PT5S&mac=02:00:00:00:00:01&ip=10.0.0.1&events=poll"
            + "&slow=2")
        .close();
  }

  @Test
  void functionIsBoundAndGoesBackToItsDriver() {
    machine.wants(CARD, "hgrnic").driver(CARD, "hgrnic");
    machine.directory("/run");

    try (PciFunction function = open("bind=true")) {
      assertThat(new PciBus(machine).find(CARD).orElseThrow().isBoundToVfio()).isTrue();
      assertThat(function.configuration().deviceId()).isEqualTo(0x9038);
    }

    assertThat(new PciBus(machine).find(CARD).orElseThrow().driver()).contains("hgrnic");
  }

  @Test
  void functionThatCannotBeOpenedGoesBackToItsDriver() {
    machine.wants(CARD, "hgrnic").driver(CARD, "hgrnic");
    machine.directory("/run");
    vfio.api = 1;

    assertRefused("bind=true", Reason.UNSUPPORTED, "version 1");

    assertThat(new PciBus(machine).find(CARD).orElseThrow().driver()).contains("hgrnic");
  }

  @Test
  void otherPlatformsAreRefused() {
    KernelProvider.checkPlatform("Linux", "amd64");
    assertThatThrownBy(() -> KernelProvider.checkPlatform("Linux", "aarch64"))
        .hasMessageContainingAll("x86-64", "aarch64");
    assertThatThrownBy(() -> KernelProvider.checkPlatform("Mac OS X", "amd64"))
        .isInstanceOf(VfioException.class);
  }

  /** Threads that never stop using a function whose end comes meanwhile. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void endMeanwhileIsToldAndCrashesNobody(boolean lost) throws Exception {
    MemorySegment memory = shared(8192);
    for (int round = 0; round < 10; round++) {
      PciFunction function = open("");
      MmioRegion doorbells = function.region(2);
      Interrupts interrupts = function.interrupts();
      CountDownLatch going = new CountDownLatch(3);
      AtomicBoolean over = new AtomicBoolean();
      try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
        Future<?> stores =
            threads.submit(
                () -> {
                  while (!over.get() || doorbells.readInt(0) != -1) {
                    doorbells.writeLong(8, 1);
                    going.countDown();
                  }
                });
        Future<?> waits = untilClosed(threads, () -> interrupts.await(1_000_000), going);
        Future<?> maps =
            untilClosed(
                threads,
                () -> {
                  function.map(memory, DmaAccess.READ_WRITE).close();
                  function.allocate(4096).close();
                },
                going);
        assertThat(going.await(20, TimeUnit.SECONDS)).isTrue();
        if (lost) {
          card.raise(VfioAbi.REQ_IRQ, 0);
          waits.get(20, TimeUnit.SECONDS);
        }
        function.close();
        over.set(true);
        for (Future<?> thread : List.of(stores, waits, maps)) {
          thread.get(20, TimeUnit.SECONDS);
        }
      }
      assertThat(vfio.leaks()).isEmpty();
    }
  }

  private static Future<?> untilClosed(
      ExecutorService threads, Runnable work, CountDownLatch going) {
    return threads.submit(
        () -> {
          try {
            while (true) {
              work.run();
              going.countDown();
            }
          } catch (VfioException e) {
            assertThat(e.reason()).isEqualTo(Reason.CLOSED);
          }
        });
  }

  /** All that a driver does, until something fails. */
  private void use(String parameters) {
    try (PciFunction function = open(parameters)) {
      function.region(0).writeInt(0, 1);
      function.region(2).writeLong(0, 1);
      assertThat(function.interrupts().await(0)).isZero();
      function.configuration().busMaster(true);
      try (DmaMapping mapping = function.allocate(4096)) {
        assertThat(mapping.iova(0)).isPositive();
      }
      function.map(shared(4096), DmaAccess.READ_WRITE);
      if (function.canReset()) {
        function.reset();
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"iommu=group", "iommu=iommufd", "iommufd", "container"})
  void whateverCallFailsNothingIsLeft(String way) {
    machine.iommufd(CARD);
    card.sparse[2] = new long[] {0, 0x1000, 0x2000, 0x1000};
    card.configuration[4] = 0;
    boolean failed = true;
    int call = 0;
    for (; failed; call++) {
      int device = way.startsWith("iommu=") ? -1 : vfio.openDevice(card, way.equals("iommufd"));
      int other =
          device < 0 ? -1 : way.equals("iommufd") ? vfio.openIommufd() : vfio.openContainer();
      vfio.calls.clear();
      vfio.fail(call, call % 2 == 0 ? 12 : 22);
      try {
        use(
            switch (way) {
              case "iommufd" -> "fd=%d&iommufd=%d".formatted(device, other);
              case "container" -> "fd=%d&container=fd:%d".formatted(device, other);
              default -> way;
            });
      } catch (VfioException e) {
        assertThat(e.getMessage()).isNotEmpty();
      }
      failed = vfio.calls.stream().anyMatch(name -> name.endsWith(" failed"));
      vfio.fail(-1, 0);
      if (device >= 0) {
        assertThat(vfio.system.close(device)).isZero();
        assertThat(vfio.system.close(other)).isZero();
      }
      assertThat(vfio.leaks()).as("after call %d, %s", call, vfio.calls).isEmpty();
      assertThat(card.isBusMaster()).isFalse();
    }
    assertThat(call).isGreaterThan(40);
  }
}
