package org.hghca.benchmarks;

import java.util.List;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.PciFunctionProvider;
import org.hghca.vfio.PciFunctions;

/**
 * Opens {@code bench-virtio:} locators: virtio cards that learn nothing of their work queues. With
 * {@code kicked=on} they want a notification of each post.
 */
public final class BenchVirtioProvider implements PciFunctionProvider {

  @Override
  public String scheme() {
    return "bench-virtio";
  }

  @Override
  public List<Locator> enumerate() {
    return List.of();
  }

  @Override
  public PciFunction open(Locator locator) {
    return new BenchVirtioFunction(
        PciFunctions.open(Locator.parse("virtio:" + locator.name())),
        locator.parameter("kicked").isPresent());
  }
}
