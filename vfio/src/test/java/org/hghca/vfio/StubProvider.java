package org.hghca.vfio;

import java.util.List;
import java.util.Locale;
import org.hghca.vfio.inprocess.FakeDevice;
import org.hghca.vfio.inprocess.InProcessFunction;

/** A backend of another project, found by {@link java.util.ServiceLoader} like any other. */
public final class StubProvider implements PciFunctionProvider {

  @Override
  public String scheme() {
    return "stub";
  }

  @Override
  public List<Locator> enumerate() {
    return List.of(Locator.parse("stub:b"), Locator.parse("stub:a"));
  }

  @Override
  public Locator resolve(Locator locator) {
    return new Locator("stub", locator.name().toUpperCase(Locale.ROOT), locator.parameters());
  }

  @Override
  public PciFunction open(Locator locator) {
    return InProcessFunction.connect(locator, new FakeDevice());
  }
}
