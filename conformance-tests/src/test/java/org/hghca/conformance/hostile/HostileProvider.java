package org.hghca.conformance.hostile;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.hghca.model.ModelProvider;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.PciFunctionProvider;
import org.hghca.vfio.inprocess.InProcessFunction;

/**
 * Opens faulty devices: {@code hostile:NAME?...} is a software HCA of that name with the parameters
 * of {@code model:}, which misbehaves as its {@link Sabotage} says.
 */
public final class HostileProvider implements PciFunctionProvider {
  private static final Map<String, Sabotage> PLANS = new ConcurrentHashMap<>();
  private static final Map<String, Saboteur> DEVICES = new ConcurrentHashMap<>();

  /** Used by the service loader. */
  public HostileProvider() {}

  /** The behavior of the next device of a name, from the first access on. */
  static void plan(String name, Sabotage sabotage) {
    PLANS.put(name, sabotage);
  }

  /** The newest device of a name. */
  static Saboteur device(String name) {
    return DEVICES.get(name);
  }

  @Override
  public String scheme() {
    return "hostile";
  }

  @Override
  public List<Locator> enumerate() {
    return List.of();
  }

  @Override
  public PciFunction open(Locator locator) {
    Locator model = new Locator("model", locator.name(), locator.parameters());
    Saboteur saboteur =
        new Saboteur(
            ModelProvider.plugIn(model), PLANS.getOrDefault(locator.name(), Sabotage.NONE));
    DEVICES.put(locator.name(), saboteur);
    PciFunction function = InProcessFunction.connect(locator, saboteur);
    saboteur.connected((InProcessFunction) function);
    return function;
  }
}
