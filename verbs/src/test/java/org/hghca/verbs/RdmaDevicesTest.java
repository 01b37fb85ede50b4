package org.hghca.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.verbs.Failures.assertErrno;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.hghca.verbs.spi.RdmaProvider;
import org.junit.jupiter.api.Test;

class RdmaDevicesTest {

  /** A provider that finds one device and knows only its own names. */
  abstract static class OneDevice implements RdmaProvider {
    private final RdmaDevice device;

    OneDevice(String name) {
      device = new RdmaDevice(name, "stub:" + name, 1);
    }

    @Override
    public List<RdmaDevice> devices() {
      return List.of(device);
    }

    @Override
    public Optional<Context> open(String nameOrLocator) {
      if (nameOrLocator.equals("busy")) {
        throw new VerbsException(Errno.EBUSY, "busy is bound to another driver");
      }
      return nameOrLocator.equals(device.name()) || nameOrLocator.equals(device.locator())
          ? Optional.of(Fakes.of(Context.class, Map.of("device", a -> device)))
          : Optional.empty();
    }
  }

  /** The first in the services file. */
  public static final class First extends OneDevice {
    public First() {
      super("first0");
    }
  }

  /** The second in the services file. */
  public static final class Second extends OneDevice {
    public Second() {
      super("second0");
    }
  }

  @Test
  void devicesOfAllProvidersAreListed() {
    assertThat(RdmaDevices.list())
        .extracting(RdmaDevice::name)
        .containsExactlyInAnyOrder("first0", "second0");
  }

  @Test
  void everyProviderIsAskedForAName() {
    assertThat(RdmaDevices.open("first0").device().name()).isEqualTo("first0");
    assertThat(RdmaDevices.open("second0").device().name()).isEqualTo("second0");
    assertThat(RdmaDevices.open("stub:second0").device().name()).isEqualTo("second0");
  }

  @Test
  void unknownNameIsNamedWithTheKnownOnesAndTheFix() {
    assertErrno(Errno.ENODEV, () -> RdmaDevices.open("mlx5_0"))
        .hasMessageContainingAll(
            "no RDMA device 'mlx5_0'; there are ",
            "first0",
            "second0",
            "; or give a locator, such as pci:0000:03:00.0: ENODEV (19)");
  }

  @Test
  void deviceThatCannotBeOpenedNamesTheReason() {
    assertErrno(Errno.EBUSY, () -> RdmaDevices.open("busy"))
        .hasMessageContaining("bound to another driver");
  }
}
