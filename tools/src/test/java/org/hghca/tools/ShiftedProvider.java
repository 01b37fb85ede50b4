package org.hghca.tools;

import java.util.List;
import org.hghca.model.ModelProvider;
import org.hghca.vfio.ConfigurationSpace;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.ForwardingFunction;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.PciFunctionProvider;

/**
 * Opens {@code shifted:}, software HCAs whose memory has other bus addresses than that of {@code
 * model:} has, and remembers how they were given back.
 */
public final class ShiftedProvider implements PciFunctionProvider {
  private static final int SHIFT = 7 * DmaMapping.PAGE_SIZE;

  private static int open;
  private static boolean mastering;

  /** How many are open. */
  public static synchronized int open() {
    return open;
  }

  /** Whether the last one was given back with its bus mastering on. */
  public static synchronized boolean wasMastering() {
    return mastering;
  }

  @Override
  public String scheme() {
    return "shifted";
  }

  @Override
  public List<Locator> enumerate() {
    return List.of();
  }

  @Override
  public PciFunction open(Locator locator) {
    PciFunction model =
        new ModelProvider().open(new Locator("model", locator.name(), locator.parameters()));
    DmaMapping _ = model.allocate(SHIFT); // until it closes
    opened(1);
    return new ForwardingFunction(model) {
      private boolean closed;

      @Override
      public Locator locator() {
        return locator;
      }

      @Override
      public void close() {
        if (!closed) {
          closed = true;
          gaveBack(configuration().read(ConfigurationSpace.COMMAND, 2));
          opened(-1);
        }
        super.close();
      }
    };
  }

  private static synchronized void opened(int more) {
    open += more;
  }

  private static synchronized void gaveBack(int command) {
    mastering = (command & ConfigurationSpace.COMMAND_BUS_MASTER) != 0;
  }
}
