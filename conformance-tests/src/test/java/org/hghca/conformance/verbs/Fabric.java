package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.hghca.conformance.profile.TestProfile;
import org.hghca.conformance.profile.TestTime;
import org.hghca.driver.HghcaContext;
import org.hghca.icm.IcmUsage;
import org.hghca.model.Cable;
import org.hghca.model.Simulation;
import org.hghca.model.SoftwareHca;
import org.hghca.verbs.Context;
import org.hghca.verbs.RdmaDevices;
import org.hghca.vfio.Locator;

/**
 * Two contexts whose queue pairs reach each other, on the devices of the system property {@code
 * hghca.device}: one locator, which both contexts open, or two, separated by a comma. By default
 * they are two software HCAs of one inline simulation, joined by a cable.
 *
 * <p>Closing it checks that nothing was left behind.
 */
final class Fabric implements AutoCloseable {
  /** The longest time of any wait, in real time. */
  private static final Duration LIMIT = TestTime.seconds(20);

  /** The virtual time that passes if no completion has arrived. */
  private static final Duration STEP = Duration.ofMillis(1);

  /** The number of such steps; nothing takes longer than some seconds of virtual time. */
  private static final int STEPS = 10_000;

  /**
   * The driver's time outside the simulation, by the system's clock: its event thread on any card,
   * and its replacements for missing functions of a card.
   */
  private static final Duration SOFTWARE = Duration.ofSeconds(10);

  /** Polls before the processor is yielded to the software HCA. */
  private static final int SPINS = 100;

  private static final long PAUSE_NANOS = 20_000;
  private static final Duration QUIET = Duration.ofSeconds(1);
  private static final long QUIET_NANOS = TestTime.millis(10).toNanos();
  private static final String DEVICE = System.getProperty("hghca.device", "");
  private static final AtomicInteger NAMES = new AtomicInteger();

  /** Null where time is the system's. */
  private final Simulation simulation;

  private final Context left;
  private final Context right;
  private final List<IcmUsage> leftTables;
  private final List<IcmUsage> rightTables;
  private boolean faultsExpected;
  private boolean retires;

  private Fabric(Simulation simulation, String leftLocator, String rightLocator) {
    this.simulation = simulation;
    this.left = RdmaDevices.open(leftLocator);
    this.right = RdmaDevices.open(rightLocator);
    this.leftTables = tables(left);
    this.rightTables = tables(right);
  }

  /** On the devices under test. */
  static Fabric open() {
    if (DEVICE.isEmpty()) {
      return inline();
    }
    List<String> locators = Locator.list(DEVICE);
    return named(locators.getFirst(), locators.getLast());
  }

  /**
   * As {@link #open()}, with more parameters for both software HCAs. Where a device is under test,
   * it is skipped if there are any.
   *
   * @param parameters as in {@code &key=value}
   */
  static Fabric open(String parameters) {
    return parameters.isEmpty() ? open() : inline(parameters);
  }

  /** On two existing devices, in the system's time. */
  static Fabric on(String left, String right) {
    return new Fabric(null, left, right);
  }

  private static Fabric named(String left, String right) {
    KeptDevices.keep(left);
    if (!right.equals(left)) {
      KeptDevices.keep(right);
    }
    return new Fabric(null, left, right);
  }

  /** On two software HCAs with virtual time. Skipped where a device is under test. */
  static Fabric inline() {
    return inline("");
  }

  /**
   * As {@link #inline()}, with more parameters for both.
   *
   * @param parameters as in {@code &key=value}
   */
  static Fabric inline(String parameters) {
    return inline(parameters, parameters);
  }

  /** As {@link #inline()}, with more parameters for each. */
  static Fabric inline(String leftParameters, String rightParameters) {
    TestProfile.requireModel();
    String name = "conformance" + NAMES.incrementAndGet();
    return new Fabric(
        Simulation.inline(name),
        locator(name, "left", true) + leftParameters,
        locator(name, "right", true) + rightParameters);
  }

  /**
   * On two software HCAs that a hub joins instead of a cable; others may join them, such as {@link
   * #locatorOfThird}. Skipped where a device is under test.
   *
   * @param virtualTime whether they have virtual time, or the simulation's own thread runs them
   */
  static Fabric onHub(boolean virtualTime) {
    TestProfile.requireModel();
    String name = "conformance" + NAMES.incrementAndGet();
    return new Fabric(
        virtualTime ? Simulation.inline(name) : null,
        locator(name, "left", virtualTime).replace("cable=", "hub="),
        locator(name, "right", virtualTime).replace("cable=", "hub="));
  }

  /** The locator of another HCA beside the left one. */
  String locatorOfThird() {
    return left.device().locator().replace("-left", "-third");
  }

  /**
   * In real time: on the devices under test, else on two software HCAs that the simulation's own
   * thread runs.
   */
  static Fabric threaded() {
    return threaded("");
  }

  /**
   * As {@link #threaded()}, with more parameters for both software HCAs. Where a device is under
   * test, it is skipped if there are any.
   *
   * @param parameters as in {@code &key=value}
   */
  static Fabric threaded(String parameters) {
    if (parameters.isEmpty() && !DEVICE.isEmpty()) {
      return open();
    }
    TestProfile.requireModel();
    String name = "conformance" + NAMES.incrementAndGet();
    return new Fabric(
        null,
        locator(name, "left", false) + parameters,
        locator(name, "right", false) + parameters);
  }

  /** Both contexts on one device: the first one, or a software HCA with virtual time. */
  static Fabric oneDevice() {
    if (!DEVICE.isEmpty()) {
      String locator = Locator.list(DEVICE).getFirst();
      return named(locator, locator);
    }
    return looped("");
  }

  /**
   * Both contexts on one software HCA with virtual time. Skipped where a device is under test.
   *
   * @param parameters as in {@code &key=value}
   */
  static Fabric looped(String parameters) {
    TestProfile.requireModel();
    String name = "conformance" + NAMES.incrementAndGet();
    String locator =
        TestProfile.model("model:%s-alone?mode=inline&sim=%s".formatted(name, name)) + parameters;
    return new Fabric(Simulation.inline(name), locator, locator);
  }

  private static String locator(String name, String side, boolean inline) {
    return TestProfile.model(
        "model:%s-%s?cable=%s%s"
            .formatted(name, side, name, inline ? "&mode=inline&sim=" + name : ""));
  }

  Context left() {
    return left;
  }

  Context right() {
    return right;
  }

  boolean hasVirtualTime() {
    return simulation != null;
  }

  /** The virtual time. */
  Duration now() {
    return simulation.now();
  }

  /** Advances virtual time; in real time the software HCAs get the processor. */
  void advance(Duration time) {
    if (simulation == null) {
      Thread.yield();
    } else {
      simulation.advance(time);
    }
  }

  /** The cable between the two software HCAs of a simulation. */
  Cable cable() {
    return hcas().getFirst().cable().orElseThrow();
  }

  /** Waits until a condition holds; virtual time advances meanwhile. */
  void await(BooleanSupplier done, Supplier<String> otherwise) {
    long start = System.nanoTime();
    int steps = 0;
    int looks = 0;
    while (!done.getAsBoolean()) {
      if (System.nanoTime() - start > LIMIT.toNanos()
          || simulation != null
              && ++steps > STEPS
              && System.nanoTime() - start > SOFTWARE.toNanos()) {
        throw new AssertionError(
            "after %d ms: %s".formatted((System.nanoTime() - start) / 1_000_000, otherwise.get()));
      }
      if (simulation != null && (steps <= STEPS || TestProfile.isRtl())) {
        simulation.advance(STEP);
      } else if (++looks < SPINS) {
        Thread.yield();
      } else {
        LockSupport.parkNanos(PAUSE_NANOS);
        if (simulation != null) {
          simulation.advance(STEP); // the device may wait for what the driver has done meanwhile
        }
      }
    }
  }

  /**
   * Waits until a peer's RDMA WRITE is in memory: the sender's completion says that the packets
   * were accepted, on a card possibly before the data is written.
   */
  void awaitWritten(MemorySegment target, MemorySegment data) {
    await(
        () -> target.mismatch(data) < 0,
        () -> "byte %d has not come".formatted(target.mismatch(data)));
  }

  /** Waits until all pending work is done. */
  void settle() {
    if (simulation != null) {
      simulation.advance(QUIET);
      return;
    }
    long start = System.nanoTime();
    for (long left = QUIET_NANOS; left > 0; left = QUIET_NANOS - (System.nanoTime() - start)) {
      LockSupport.parkNanos(left);
    }
  }

  /** The test causes a fault that the device must record. */
  void expectFaults() {
    faultsExpected = true;
  }

  /** Numbers and rings that a card may still use after they are closed are kept from others. */
  void mayRetire() {
    retires = TestProfile.hardware().positionsSurviveDestroy();
  }

  /**
   * Pages of a card whose tables are never unmapped stay; the reserved entries do not. Other cards
   * have none.
   */
  private static List<IcmUsage> tables(Context context) {
    if (!(context instanceof HghcaContext hghca)) {
      return List.of();
    }
    List<IcmUsage> tables = hghca.card().icm();
    return TestProfile.hardware().icmReclaim()
        ? tables
        : tables.stream()
            .map(table -> new IcmUsage(table.table(), table.entries(), 0, table.ranges()))
            .toList();
  }

  @Override
  public void close() {
    if (!retires) {
      assertThat(tables(left)).as("what the card's tables hold").isEqualTo(leftTables);
      assertThat(tables(right)).as("what the card's tables hold").isEqualTo(rightTables);
    }
    List<SoftwareHca> present = simulation == null ? List.of() : hcas();
    left.close();
    right.close();
    if (simulation != null) {
      assertThat(hcas()).as("software HCAs that are still there").isEmpty();
      simulation.close();
    }
    List<String> faults = present.stream().flatMap(hca -> hca.faults().stream()).toList();
    if (faultsExpected && !present.isEmpty()) {
      assertThat(faults).as("what the software HCAs had to object to").isNotEmpty();
    } else {
      assertThat(faults).as("what the software HCAs had to object to").isEmpty();
    }
  }

  /** The software HCAs of a simulation, the left one first. */
  List<SoftwareHca> hcas() {
    return List.of(left, right).stream()
        .map(context -> context.device().locator())
        .map(locator -> locator.substring(locator.indexOf(':') + 1, locator.indexOf('?')))
        .distinct()
        .flatMap(name -> simulation.hca(name).stream())
        .toList();
  }
}
