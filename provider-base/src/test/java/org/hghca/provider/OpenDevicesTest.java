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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OpenDevicesTest {
  private static final String PROPERTY = "hghca.devices";

  /** Claims one vendor; names functions whose ids are unknown, or not. */
  private record Vendor(String prefix, int vendor, boolean namesUnknown) implements DeviceDriver {
    @Override
    public boolean claims(PciIds ids) {
      return ids.vendor() == vendor;
    }

    @Override
    public boolean names(Optional<PciIds> ids) {
      return ids.map(this::claims).orElse(namesUnknown);
    }

    @Override
    public Device bringUp(PciFunction function) {
      function.region(0).writeInt(0, vendor);
      return new Device() {
        @Override
        public Context context(RdmaDevice name, Runnable onClose) {
          return (Context)
              Proxy.newProxyInstance(
                  Context.class.getClassLoader(),
                  new Class<?>[] {Context.class},
                  (proxy, method, arguments) -> {
                    if (method.getName().equals("close")) {
                      onClose.run();
                      return null;
                    }
                    return name;
                  });
        }

        @Override
        public void close() {
          function.close();
        }
      };
    }
  }

  private static final Vendor RED = new Vendor("red", 0x1111, true);
  private static final Vendor BLUE = new Vendor("blue", 0x2222, false);

  private final OpenDevices devices = new OpenDevices(List.of(RED, BLUE));

  @AfterEach
  void forget() {
    System.clearProperty(PROPERTY);
  }

  @Test
  void functionWithKnownIdsThatNoDriverClaimsIsNotOpened() {
    assertThat(devices.openContext("recorded:known?known=true&vendor=3333&device=1")).isEmpty();
    assertThat(RecordedFunctions.calls("known")).isEmpty();
  }

  @Test
  void functionThatNoDriverClaimsIsClosedUntouched() {
    assertThat(devices.openContext("recorded:unknown?vendor=3333&device=1")).isEmpty();
    assertThat(RecordedFunctions.calls("unknown")).containsExactly("open", "close");
  }

  @ParameterizedTest
  @CsvSource({"1111,true", "1111,false", "2222,true", "2222,false"})
  void functionIsOpenedOnceWhicheverDriverClaimsIt(String vendor, boolean redFirst) {
    String name = "once-%s-%s".formatted(vendor, redFirst);
    OpenDevices ordered = new OpenDevices(redFirst ? List.of(RED, BLUE) : List.of(BLUE, RED));

    Context context =
        ordered.openContext("recorded:%s?vendor=%s&device=1".formatted(name, vendor)).orElseThrow();
    assertThat(RecordedFunctions.calls(name)).containsExactly("open", "write BAR0");
    context.close();
    assertThat(RecordedFunctions.calls(name)).containsExactly("open", "write BAR0", "close");
  }

  @Test
  void deviceIsBroughtUpOnceAndClosedWithItsLastContext() {
    String locator = "recorded:twice?vendor=2222&device=1";

    Context first = devices.openContext(locator).orElseThrow();
    Context second = devices.openContext(locator).orElseThrow();
    first.close();
    assertThat(RecordedFunctions.calls("twice")).containsExactly("open", "write BAR0");
    second.close();
    assertThat(RecordedFunctions.calls("twice")).containsExactly("open", "write BAR0", "close");
  }

  @Test
  void eachDriverCountsItsOwnDevices() {
    System.setProperty(
        PROPERTY,
        "recorded:a?known=true&vendor=2222&device=1,"
            + "recorded:b?known=true&vendor=1111&device=1,"
            + "recorded:c?vendor=2222&device=1,"
            + "recorded:d?known=true&vendor=3333&device=1");

    assertThat(names(devices)).containsExactly("red0 b", "red1 c", "blue0 a");
  }

  @Test
  void deviceOpenedByItsNameOrItsLocatorHasThatName() {
    String locator = "recorded:named?known=true&vendor=2222&device=1";
    System.setProperty(PROPERTY, locator);

    try (Context byName = devices.openContext("blue0").orElseThrow();
        Context byLocator = devices.openContext(locator).orElseThrow()) {
      assertThat(byName.device().name()).isEqualTo("blue0");
      assertThat(byLocator.device().name()).isEqualTo("blue0");
    }
  }

  @Test
  void deviceWithoutNameHasItsLocatorAsName() {
    String locator = "recorded:nameless?device=1&vendor=2222";

    try (Context context = devices.openContext(locator).orElseThrow()) {
      assertThat(context.device().name()).isEqualTo(locator);
    }
  }

  @Test
  void nameOfFunctionThatTurnsOutToBeAnotherDriversIsRefusedWithItsLocator() {
    System.setProperty(PROPERTY, "recorded:late?vendor=2222&device=1");

    assertThatThrownBy(() -> devices.openContext("red0"))
        .hasMessageContaining("red0")
        .hasMessageContaining("recorded:late");
    assertThat(RecordedFunctions.calls("late")).containsExactly("open", "close");
    try (Context _ = devices.openContext("recorded:late?vendor=2222&device=1").orElseThrow()) {
      assertThatThrownBy(() -> devices.openContext("red0")).hasMessageContaining("red0");
      assertThat(RecordedFunctions.calls("late"))
          .containsExactly("open", "close", "open", "write BAR0");
    }
  }

  @Test
  void nameThatNoDeviceHasIsNobodys() {
    assertThat(devices.openContext("red7")).isEmpty();
  }

  private static List<String> names(OpenDevices devices) {
    return devices.list().stream()
        .filter(device -> device.locator().startsWith("recorded:"))
        .map(device -> device.name() + " " + device.locator().charAt("recorded:".length()))
        .toList();
  }
}
