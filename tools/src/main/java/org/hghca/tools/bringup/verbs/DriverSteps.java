package org.hghca.tools.bringup.verbs;

import java.util.List;
import org.hghca.driver.HghcaContext;
import org.hghca.tools.bringup.board.Driver;
import org.hghca.tools.bringup.board.FunctionErrors;
import org.hghca.tools.bringup.board.Loop;
import org.hghca.tools.bringup.board.Target;
import org.hghca.tools.bringup.step.Capability;
import org.hghca.tools.bringup.step.Observation;
import org.hghca.tools.bringup.step.Step;
import org.hghca.tools.bringup.step.StepFailedException;
import org.hghca.tools.raw.PciErrors;
import org.hghca.verbs.Counters;
import org.hghca.verbs.DeviceAttributes;
import org.hghca.verbs.PortAttributes;
import org.hghca.verbs.PortState;
import org.hghca.verbs.QpType;

/** The board through its driver: open, features, and whether data returns. */
public final class DriverSteps {
  public static final String OPEN = "driver.open";
  public static final String CLOSE = "driver.close";

  private final Driver driver;
  private final Capability[] needs;

  /**
   * On a driver.
   *
   * @param needs what must have been shown before the driver opens the board
   */
  public DriverSteps(Driver driver, Capability... needs) {
    this.driver = driver;
    this.needs = needs.clone();
  }

  public List<Step> steps() {
    return List.of(
        Step.of(
                OPEN,
                "the driver brings the board up, and sees the same card",
                "verbs: ibv_open_device, ibv_query_device",
                "run hghca info -d <locator> --debug: it shows every command of the bring-up",
                this::open,
                needs)
            .giving(Capability.DRIVER),
        Step.of(
                "driver.port",
                "the port",
                "verbs: ibv_query_port, ibv_query_gid",
                "the link: transceiver, cable, the lanes of the MAC",
                this::port,
                Capability.DRIVER)
            .giving(Capability.PORT));
  }

  /** Whether a message comes back. */
  public Step loopStep() {
    return Step.of(
            "driver.loop",
            "one SEND through the driver comes back",
            "verbs: ibv_post_send, ibv_poll_cq",
            "when loop.send passed: MAC and IP of the locator; else the link and its loop",
            this::loop,
            Capability.PORT)
        .giving(Capability.MESSAGES);
  }

  private void open(Observation o) {
    o.expect("a device of profile %s".formatted(driver.abilities().name()));
    driver.checkClean();
    driver.open();
    DeviceAttributes device = driver.left().queryDevice();
    o.saw(
        "%,d QPs, %,d CQs of %,d entries, %,d MRs, %d elements, %d bytes inline, atomics: %s"
            .formatted(
                device.maxQp(),
                device.maxCq(),
                device.maxCqe(),
                device.maxMr(),
                device.maxSge(),
                device.maxInline(),
                device.atomics() ? "yes" : "no"));
    sends(o, device.advice().outstanding());
    if (driver.left() instanceof HghcaContext context) {
      String profile = context.card().profile();
      o.saw("profile %s, HCR at BAR0 + %xh".formatted(profile, context.card().hcrBase()));
      o.check(
          profile.equals(driver.abilities().name()),
          "the driver detects profile %s, not %s".formatted(profile, driver.abilities().name()));
    }
  }

  /**
   * Reports how many requests of a queue pair may be outstanding on the card, if there is a limit.
   */
  private void sends(Observation o, int outstanding) {
    int safe = driver.abilities().requestsOutstanding();
    if (outstanding != 0) {
      o.saw("sends of a queue pair in the card: %d at a time".formatted(outstanding));
    }
    if (outstanding > safe) {
      o.warn(
          "outstanding=%d in the locator, where %d is safe: this card can lose completions"
              .formatted(outstanding, safe));
    }
  }

  private void port(Observation o) {
    o.expect("port 1 with a GID; state ACTIVE when there is a link");
    PortAttributes port = driver.left().queryPort(Driver.PORT);
    o.saw(
        "%s%s, MTU %d, MAC %012x, GID %s"
            .formatted(
                port.state().text(),
                port.stateAssumed() ? " (assumed: the card does not report it)" : "",
                port.activeMtu().bytes(),
                port.mac(),
                driver.left().queryGid(Driver.PORT, 0)));
    o.check(
        port.state() == PortState.ACTIVE || driver.options().loop() != Loop.PEER,
        "the port is %s, and --loop names a peer".formatted(port.state().text()));
    if (port.state() != PortState.ACTIVE) {
      o.saw("the port is not active: only queue pairs of this card reach each other");
    }
  }

  private void loop(Observation o) {
    Loop loop = driver.options().loop();
    if (loop == Loop.NONE) {
      throw Observation.skip("--loop=none: data steps skipped");
    }
    o.expect("a completion within %s".formatted(driver.options().limit()));
    try (Pair pair = new Pair(driver, QpType.RC, 4096, 0).connect()) {
      Transfers transfers = new Transfers(driver, pair);
      if (transfers.probe(64)) {
        driver.looped();
        o.saw("64 bytes came back");
        return;
      }
    }
    if (loop == Loop.AUTO && !driver.isRawLooped()) {
      throw Observation.notJudged(Target.NO_LOOP);
    }
    o.check(
        !driver.isRawLooped(),
        "nothing came back, although a message did without the driver (loop.send)");
    throw new StepFailedException("nothing came back, although --loop expects it");
  }

  /** The last step of those that use the driver. */
  static Step closeStep(Driver driver) {
    return Step.of(
        CLOSE,
        "no DMA was refused, no error on the link, and the driver gives the board back",
        "verbs: ibv_close_device; IOMMU of the platform",
        "the faults in hghca info --counters, and the system's log",
        o -> close(o, driver),
        Capability.DRIVER);
  }

  private static void close(Observation o, Driver driver) {
    o.expect(
        "0 refused accesses; no error that the function reports since the driver has it; close"
            + " without an error");
    Counters counters = driver.left().counters();
    o.saw("%s".formatted(counters));
    o.check(
        counters.dmaFaults() == 0,
        "%d accesses of the card to memory were refused".formatted(counters.dmaFaults()));
    if (counters.missedEvents() > 0) {
      o.warn(
          "%d completions had no event or no interrupt: the driver's own look found them"
              .formatted(counters.missedEvents()));
    }
    driver.newErrors().ifPresent(errors -> check(o, errors));
    boolean reports = driver.reportsDmaFaults();
    driver.close();
    o.saw("closed");
    if (!reports) {
      throw Observation.notJudged(Target.UNREPORTED);
    }
  }

  private static void check(Observation o, PciErrors errors) {
    o.saw("the function has reported %s while the driver had it".formatted(errors.text()));
    FunctionErrors.check(o, errors);
  }
}
