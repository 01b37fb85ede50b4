package org.hghca.driver;

import org.hghca.abi.AdapterInfo;
import org.hghca.abi.DeviceLimits;
import org.hghca.abi.HardwareProfile;
import org.hghca.icm.IcmManager;
import org.hghca.mailbox.CommandInterface;
import org.hghca.uar.UarAllocator;
import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;
import org.hghca.vfio.PciFunction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings a card up, step by step; taking it down is the exact reverse, and so is what happens when
 * a step fails.
 */
final class BringUp {
  private static final Logger LOG = LoggerFactory.getLogger(BringUp.class);

  private BringUp() {}

  /**
   * Brings a card up.
   *
   * @param function belongs to the device from here on, also when this fails
   * @throws VerbsException naming the step that failed
   */
  static HghcaDevice of(PciFunction function) {
    // Closed by the device's take-down, or here when a step fails.
    Undo undo = new Undo();
    try {
      undo.add(function::close);
      checkPlatform();
      HardwareProfile profile = profile(function);
      Health health = new Health(function.locator().toString());
      Retirement retirement = new Retirement();

      // What an owner before us left on the card goes away before the card may touch memory.
      if (function.canReset()) {
        function.reset();
      }
      function.configuration().busMaster(true);
      undo.add(() -> stop(function));

      CommandInterface commands = CommandInterface.open(function, profile);
      undo.add(commands::close);
      commands.onFatal(cause -> health.fail(cause.getMessage()));

      DeviceLimits limits = commands.queryDeviceLimits();
      AdapterInfo adapter = commands.queryAdapter();

      // INIT_HCA comes before MAP_ICM: the card tells the tables apart by their bases.
      IcmManager icm = IcmManager.create(function, commands, profile, limits);
      commands.initHca(icm.initHca());
      undo.add(
          () -> {
            closeHca(commands, function);
            stop(function);
            // Not reached when the reset failed: what the card may reach then stays.
            retirement.afterReset();
            icm.close();
          });
      icm.activate();

      UarAllocator uars = UarAllocator.open(function);
      HghcaDevice device =
          new HghcaDevice(
              function,
              new Limits(limits, profile),
              adapter,
              health,
              commands,
              icm,
              uars,
              retirement,
              undo::close);
      device.startEvents();
      undo.add(device::stopEvents);
      LOG.debug("{} is up: profile {}, {}", function.locator(), profile.name(), limits);
      return device;
    } catch (RuntimeException e) {
      throw takenBack(undo, Failures.of("cannot bring up " + function.locator(), e));
    } catch (Error e) {
      throw takenBack(undo, e); // a fault of mapped registers, among others
    }
  }

  /** The failure, after all that was done is taken back. */
  private static <T extends Throwable> T takenBack(Undo undo, T failure) {
    try {
      undo.close();
    } catch (RuntimeException another) {
      failure.addSuppressed(another);
    }
    return failure;
  }

  private static void checkPlatform() {
    String os = System.getProperty("os.name");
    String architecture = System.getProperty("os.arch");
    if (!os.equals("Linux") || !architecture.equals("amd64")) {
      throw new VerbsException(
          Errno.EOPNOTSUPP,
          "hghca runs on Linux on x86-64, not on %s on %s".formatted(os, architecture));
    }
  }

  private static HardwareProfile profile(PciFunction function) {
    String name = function.locator().parameter("profile").orElse("s");
    try {
      HardwareProfile profile = HardwareProfile.byName(name);
      if (profile != HardwareProfile.S) {
        throw new VerbsException(
            Errno.EOPNOTSUPP,
            "%s: hardware profile '%s' is not supported".formatted(function.locator(), name));
      }
      return profile;
    } catch (IllegalArgumentException e) {
      throw new VerbsException(
          Errno.EINVAL, "%s: %s".formatted(function.locator(), e.getMessage()), e);
    }
  }

  /** Ends the HCA; a card that does not answer any more is ended by what follows. */
  private static void closeHca(CommandInterface commands, PciFunction function) {
    try {
      commands.closeHca();
    } catch (RuntimeException e) {
      LOG.warn("{}: CLOSE_HCA failed: {}", function.locator(), e.getMessage());
    }
  }

  /** No DMA from here on: bus mastering off, then reset. */
  private static void stop(PciFunction function) {
    function.configuration().busMaster(false);
    if (function.canReset()) {
      function.reset();
    }
  }
}
