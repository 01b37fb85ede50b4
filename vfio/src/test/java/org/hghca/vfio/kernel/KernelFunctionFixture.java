package org.hghca.vfio.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.vfio.testing.Failures.assertReason;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.VfioException.Reason;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A function of the kernel's VFIO on a fake kernel. */
abstract class KernelFunctionFixture {
  static final String CARD = "0000:03:00.0";

  @TempDir Path root;
  FakeMachine machine;
  final FakeCard card = new FakeCard(CARD, 17);
  final FakeVfio vfio = new FakeVfio().card(card, "/dev/vfio/devices/vfio3");
  KernelSystem system;

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

  PciFunction open(String parameters) {
    return open(CARD, parameters);
  }

  PciFunction open(String address, String parameters) {
    return new KernelProvider(machine, system)
        .open(Locator.parse("pci:" + address + (parameters.isEmpty() ? "" : "?" + parameters)));
  }

  void assertRefused(String parameters, Reason reason, String... message) {
    assertReason(reason, () -> open(parameters)).hasMessageContainingAll(message);
  }

  static MemorySegment shared(long bytes) {
    return Arena.ofAuto().allocate(bytes, 4096);
  }

  /** A second function of the bus, in a group. */
  FakeCard second(int group) {
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
}
