package org.hghca.provider;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Optional;
import org.hghca.verbs.Context;
import org.hghca.verbs.RdmaDevice;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.PciIds;
import org.hghca.vfio.testing.RecordedFunctions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class OpenDevicesTest {
  private static final String PROPERTY = "hghca.devices";

  /** Claims one vendor; names functions whose ids are unknown, or not. */
  private record Vendor(String prefix, int vendor, boolean namesUnknown)
      implements DeviceKind<PciFunction> {
    @Override
    public boolean claims(PciIds ids) {
      return ids.vendor() == vendor;
    }

    @Override
    public boolean names(Optional<PciIds> ids) {
      return ids.map(this::claims).orElse(namesUnknown);
    }

    @Override
    public PciFunction bringUp(PciFunction function) {
      function.region(0).writeInt(0, vendor);
      return function;
    }

    @Override
    public Context context(RdmaDevice name, PciFunction device, Runnable onClose) {
      return (Context)
          Proxy.newProxyInstance(
              Context.class.getClassLoader(),
              new Class<?>[] {Context.class},
              (proxy, method, arguments) -> {
                onClose.run();
                return null;
              });
    }

    @Override
    public void close(PciFunction device) {
      device.close();
    }
  }

  private final OpenDevices<PciFunction> red = new OpenDevices<>(new Vendor("red", 0x1111, true));
  private final OpenDevices<PciFunction> blue =
      new OpenDevices<>(new Vendor("blue", 0x2222, false));

  @AfterEach
  void forget() {
    System.clearProperty(PROPERTY);
  }

  @Test
  void functionWithKnownIdsOfAnotherKindIsNotOpened() {
    String locator = "recorded:known?known=true&vendor=1111&device=1";

    assertThat(blue.openContext(locator)).isEmpty();
    assertThat(RecordedFunctions.calls("known")).isEmpty();
  }

  @Test
  void functionOfAnotherKindIsClosedUntouched() {
    assertThat(blue.openContext("recorded:unknown?vendor=1111&device=1")).isEmpty();
    assertThat(RecordedFunctions.calls("unknown")).containsExactly("open", "close");
  }

  @Test
  void deviceIsBroughtUpOnceAndClosedWithItsLastContext() {
    String locator = "recorded:twice?vendor=2222&device=1";

    Context first = blue.openContext(locator).orElseThrow();
    Context second = blue.openContext(locator).orElseThrow();
    first.close();
    assertThat(RecordedFunctions.calls("twice")).containsExactly("open", "write BAR0");
    second.close();
    assertThat(RecordedFunctions.calls("twice")).containsExactly("open", "write BAR0", "close");
  }

  @Test
  void openDeviceOfAnotherKindIsNotOpenedAgain() {
    String locator = "recorded:taken?vendor=2222&device=1";

    Context context = blue.openContext(locator).orElseThrow();
    assertThat(red.openContext(locator)).isEmpty();
    assertThat(RecordedFunctions.calls("taken")).containsExactly("open", "write BAR0");
    context.close();
    assertThat(red.openContext(locator)).isEmpty();
    assertThat(RecordedFunctions.calls("taken"))
        .containsExactly("open", "write BAR0", "close", "open", "close");
  }

  @Test
  void eachKindCountsItsOwnDevices() {
    System.setProperty(
        PROPERTY,
        "recorded:a?known=true&vendor=2222&device=1,"
            + "recorded:b?known=true&vendor=1111&device=1,"
            + "recorded:c?vendor=2222&device=1,"
            + "recorded:d?known=true&vendor=3333&device=1");

    assertThat(names(red)).containsExactly("red0 b", "red1 c");
    assertThat(names(blue)).containsExactly("blue0 a");
  }

  @Test
  void nameOfFunctionThatTurnsOutToBeOfAnotherKindIsRefusedWithItsLocator() {
    System.setProperty(PROPERTY, "recorded:late?vendor=2222&device=1");

    assertThatThrownBy(() -> red.openContext("red0"))
        .hasMessageContaining("red0")
        .hasMessageContaining("recorded:late");
  }

  private static List<String> names(OpenDevices<?> devices) {
    return devices.list().stream()
        .filter(device -> device.locator().startsWith("recorded:"))
        .map(device -> device.name() + " " + device.locator().charAt("recorded:".length()))
        .toList();
  }
}
