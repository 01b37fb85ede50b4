package org.hghca.vfio;

import java.util.List;

/** A backend from outside, found by {@link java.util.ServiceLoader} as any other. */
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
  public PciFunction open(Locator locator) {
    return InProcessFunction.connect(locator, new FakeDevice());
  }
}
