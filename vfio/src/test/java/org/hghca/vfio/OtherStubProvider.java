package org.hghca.vfio;

import java.util.List;

/** A backend that claims the scheme of {@link StubProvider}. */
public final class OtherStubProvider implements PciFunctionProvider {

  @Override
  public String scheme() {
    return "stub";
  }

  @Override
  public List<Locator> enumerate() {
    return List.of();
  }

  @Override
  public PciFunction open(Locator locator) {
    throw new AssertionError("it must not be asked");
  }
}
