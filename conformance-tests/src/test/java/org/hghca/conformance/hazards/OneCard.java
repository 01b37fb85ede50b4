package org.hghca.conformance.hazards;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.hghca.model.Simulation;
import org.hghca.model.SoftwareHca;
import org.hghca.verbs.Context;
import org.hghca.verbs.RdmaDevices;

/**
 * A context on a software HCA with the behavior of the makers' RTL, in an inline simulation of its
 * own. The driver detects the profile.
 */
final class OneCard implements AutoCloseable {
  private static final AtomicInteger NAMES = new AtomicInteger();

  final Context context;
  final SoftwareHca hca;

  private final Simulation simulation;

  /**
   * Opens a card.
   *
   * @param profile r1 or r2
   * @param parameters more of the locator, as in {@code &key=value}
   */
  OneCard(String profile, String parameters) {
    String name = "hazards" + NAMES.incrementAndGet();
    simulation = Simulation.inline(name);
    try {
      context =
          RdmaDevices.open(
              "model:%s?mode=inline&sim=%s&profile=%s%s"
                  .formatted(name, name, profile, parameters));
      hca = simulation.hca(name).orElseThrow();
    } catch (RuntimeException e) {
      simulation.close();
      throw e;
    }
  }

  static OneCard r1() {
    return new OneCard("r1", "");
  }

  /** Checks that no hazard occurred, and that the card accessed only mapped memory. */
  void assertUnharmed() {
    assertUnharmed(hca);
  }

  /** Checks that no hazard occurred except a given line. */
  void assertOnlyHazards(String line) {
    assertThat(hca.hazards()).as("accesses to the card").allMatch(h -> h.startsWith(line));
    assertThat(hca.faults()).as("violations that the software HCA recorded").isEmpty();
  }

  private static void assertUnharmed(SoftwareHca hca) {
    assertThat(hca.hazards()).as("accesses that break the card").isEmpty();
    assertThat(hca.faults()).as("violations that the software HCA recorded").isEmpty();
  }

  /** Shuts the card down, which must not cause a hazard either. */
  @Override
  public void close() {
    try {
      context.close();
      List<SoftwareHca> left = simulation.hca(hca.name()).stream().toList();
      assertThat(left).as("software HCAs that are still open").isEmpty();
    } finally {
      simulation.close();
    }
  }
}
