package org.hghca.tools.bringup;

import java.util.ArrayList;
import java.util.List;
import org.hghca.tools.bringup.board.Board;
import org.hghca.tools.bringup.board.Driver;
import org.hghca.tools.bringup.board.VirtioBoard;
import org.hghca.tools.bringup.data.DataTests;
import org.hghca.tools.bringup.register.HcrSteps;
import org.hghca.tools.bringup.register.PciSteps;
import org.hghca.tools.bringup.register.QuerySteps;
import org.hghca.tools.bringup.register.QueueSteps;
import org.hghca.tools.bringup.register.RawDataSteps;
import org.hghca.tools.bringup.register.StopSteps;
import org.hghca.tools.bringup.register.TableSteps;
import org.hghca.tools.bringup.step.Capability;
import org.hghca.tools.bringup.step.Step;
import org.hghca.tools.bringup.verbs.DataSteps;
import org.hghca.tools.bringup.verbs.DriverSteps;
import org.hghca.tools.bringup.verbs.ErrorSteps;
import org.hghca.tools.bringup.verbs.InterruptSteps;
import org.hghca.tools.bringup.verbs.PathSteps;
import org.hghca.tools.bringup.verbs.SpeedSteps;
import org.hghca.tools.bringup.virtio.NetSteps;
import org.hghca.tools.bringup.virtio.RoceSteps;
import org.hghca.tools.bringup.virtio.VirtioSteps;

/** The steps of a session in their order. */
final class StepList {
  private StepList() {}

  /** Of a card. */
  static List<Step> ofCard(Board card, Driver driver) {
    List<Step> steps = new ArrayList<>();
    PciSteps pci = new PciSteps(card);
    steps.addAll(pci.ofEveryFunction());
    steps.addAll(pci.ofCard());
    steps.addAll(new HcrSteps(card).steps());
    steps.addAll(new QuerySteps(card).steps());
    steps.addAll(new TableSteps(card).steps());
    steps.addAll(new QueueSteps(card).steps());
    steps.addAll(new RawDataSteps(card).steps());
    steps.add(pci.errors());
    steps.addAll(
        ofVerbs(
            driver,
            new PathSteps(driver).ofDatagram(),
            Capability.PROFILE,
            Capability.ANSWERS,
            Capability.TABLES,
            Capability.BAR2));
    steps.addAll(new StopSteps(card, driver).steps());
    return List.copyOf(steps);
  }

  /** Of a virtio network device. */
  static List<Step> ofVirtio(VirtioBoard virtio, Driver driver) {
    List<Step> steps = new ArrayList<>();
    PciSteps pci = new PciSteps(virtio);
    steps.addAll(pci.ofEveryFunction());
    steps.addAll(new VirtioSteps(virtio).steps());
    steps.addAll(new NetSteps(virtio).steps());
    steps.addAll(new RoceSteps(virtio).steps());
    steps.add(pci.errors());
    steps.addAll(
        ofVerbs(
            driver, new PathSteps(driver).ofEveryStage(), Capability.LIMITS, Capability.ANSWERS));
    return List.copyOf(steps);
  }

  /**
   * The steps that go through the driver.
   *
   * @param path those of the data path without a loop
   * @param needs what must have been shown before
   */
  private static List<Step> ofVerbs(Driver driver, List<Step> path, Capability... needs) {
    List<Step> steps = new ArrayList<>();
    DriverSteps first = new DriverSteps(driver, needs);
    steps.addAll(first.steps());
    steps.addAll(path);
    steps.add(first.loopStep());
    steps.addAll(new DataSteps(driver).steps());
    steps.addAll(new DataTests(driver).steps());
    steps.addAll(new ErrorSteps(driver).steps());
    steps.addAll(new InterruptSteps(driver).steps());
    steps.addAll(new SpeedSteps(driver).steps());
    return steps;
  }
}
