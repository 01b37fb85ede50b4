package org.example.hca;

import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.hghca.model.ModelProvider;
import org.hghca.vfio.EmulatedFunction;
import org.hghca.vfio.LinkAddress;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.PciFunctionProvider;
import org.hghca.vfio.inprocess.InProcessFunction;

/**
 * Opens {@code example:NAME?wire=W}: cards that a simulator implements. Here the simulator is the
 * software HCA; yours is anything that answers reads, accepts writes and does DMA.
 */
public final class ExampleProvider implements PciFunctionProvider {
  private static final String WIRE = "wire";

  @Override
  public String scheme() {
    return "example";
  }

  /** None exists until a locator names it. */
  @Override
  public List<Locator> enumerate() {
    return List.of();
  }

  @Override
  public PciFunction open(Locator locator) {
    // Misspelt parameters are refused, those of the driver (as=, slow=, mac= ...) pass.
    locator.checkParameters(List.of(WIRE));
    ExampleFunction function = new ExampleFunction(simulator(locator), LinkAddress.of(locator));
    try {
      return InProcessFunction.connect(locator, function);
    } catch (RuntimeException | Error e) {
      function.close();
      throw e;
    }
  }

  private static EmulatedFunction simulator(Locator locator) {
    SortedMap<String, String> parameters = new TreeMap<>();
    parameters.put("interrupts", "none");
    parameters.put("mac", LinkAddress.of(locator).macText());
    locator.parameter(WIRE).ifPresent(wire -> parameters.put("cable", wire));
    return ModelProvider.plugIn(new Locator("model", "example-" + locator.name(), parameters));
  }
}
