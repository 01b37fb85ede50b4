package org.hghca.benchmarks;

import java.util.List;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.PciFunctionProvider;
import org.hghca.vfio.PciFunctions;

/** Opens {@code bench:} locators: software HCAs with mapped doorbells. */
public final class BenchProvider implements PciFunctionProvider {

  @Override
  public String scheme() {
    return "bench";
  }

  @Override
  public List<Locator> enumerate() {
    return List.of();
  }

  @Override
  public PciFunction open(Locator locator) {
    return new BenchFunction(
        PciFunctions.open(new Locator("model", locator.name(), locator.parameters())));
  }
}
