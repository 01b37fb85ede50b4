package org.hghca.driver.bringup;

import java.time.Duration;
import java.time.format.DateTimeParseException;
import org.hghca.abi.AdapterInfo;
import org.hghca.abi.DeviceLimits;
import org.hghca.abi.HardwareProfile;
import org.hghca.driver.card.Card;
import org.hghca.driver.card.CardAccess;
import org.hghca.driver.card.DevicePresence;
import org.hghca.driver.card.Limits;
import org.hghca.driver.object.CardFamily;
import org.hghca.driver.object.DeviceParts;
import org.hghca.driver.object.DocumentFamily;
import org.hghca.driver.object.HghcaDevice;
import org.hghca.driver.rtl.RtlFamily;
import org.hghca.driver.rtl.RtlOptions;
import org.hghca.driver.trace.CardRecord;
import org.hghca.icm.IcmManager;
import org.hghca.log.About;
import org.hghca.log.ConditionLog;
import org.hghca.mailbox.CommandInterface;
import org.hghca.mailbox.DeviceFatalException;
import org.hghca.provider.DeferredFree;
import org.hghca.provider.Failures;
import org.hghca.provider.Health;
import org.hghca.provider.Undo;
import org.hghca.uar.UarAllocator;
import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;
import org.hghca.vfio.DriverParameter;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.TimeScale;

/**
 * Brings a card up, step by step; shutdown is the exact reverse, and so is the cleanup after a
 * failed step.
 */
public final class BringUp {
  private static final ConditionLog LOG = ConditionLog.of(BringUp.class);

  private BringUp() {}

  /**
   * Brings a card up.
   *
   * @param function belongs to the device from here on, also when this fails
   * @throws VerbsException naming the step that failed
   */
  public static HghcaDevice of(PciFunction function) {
    // Closed by the device's shutdown, or here when a step fails.
    Undo undo = new Undo();
    DeferredFree deferredFree = new DeferredFree(DeviceFatalException.class::isInstance);
    try {
      // For a card that could not be stopped; a card cannot access memory through a closed
      // function.
      undo.add(deferredFree::afterReset);
      undo.add(function::close);
      checkPlatform();
      Recognition recognition = new Recognition(function);
      Duration limit = commandLimit(function.locator());
      recognition.checkConfiguration();
      Health health = new Health(function.locator().toString());

      // The state of a previous owner is cleared before the card may access memory: a killed owner
      // leaves the card running, with commands, queues and DMA in flight.
      DmaGate gate = new DmaGate(function);
      gate.stopAndReset();
      recognition.checkConfiguration(); // the reset may have cleared the memory space bit
      Recognition.Place place = recognition.findHcr();
      undo.add(gate::stopAndReset);
      gate.open();

      CommandInterface probeCommands =
          CommandInterface.open(function, place.profileUntilKnown(), place.hcrBase(), limit);
      undo.add(
          () -> {
            // A command that never completed may access its mailboxes as long as the card runs.
            gate.stopAndReset();
            deferredFree.keep(
                () -> {
                  probeCommands.deviceWasReset();
                  probeCommands.close();
                });
            if (!gate.isGone()) {
              deferredFree.afterReset();
            }
          });
      DevicePresence presence = new DevicePresence(function, place.hcrBase());
      probeCommands.onFatal(cause -> health.fail(presence.reason(cause.getMessage())));

      DeviceLimits limits = probeCommands.queryDeviceLimits();
      HardwareProfile profile = recognition.profile(place, limits);
      function.trace().ifPresent(to -> CardRecord.record(to, profile, place.hcrBase()));
      RtlOptions options = RtlOptions.of(function.locator(), profile);
      CommandInterface commands = probeCommands.as(profile);
      AdapterInfo adapter = commands.queryAdapter();

      // In this order, which the document leaves open and the RTL requires: it distinguishes the
      // tables by their bases.
      IcmManager icm = IcmManager.create(function, commands, profile, limits);
      commands.initHca(icm.initHca());
      undo.add(
          () -> {
            closeHca(commands, function);
            gate.stopAndReset();
            // Not executed when the reset failed: then memory that the card may access stays until
            // the function is closed. The same applies without a reset, if the card may write its
            // tables back at any time.
            deferredFree.keep(icm::close);
            if (gate.isReset() || !gate.isGone() && profile.icmReclaim()) {
              deferredFree.afterReset();
            }
          });
      icm.activate();

      UarAllocator uars = UarAllocator.open(function);
      HghcaDevice device =
          new HghcaDevice(
              new Card(
                  new CardAccess(function, place.hcrBase(), commands, icm, uars),
                  presence,
                  new Limits(
                      limits,
                      profile,
                      recognition.extensions(profile, limits),
                      options.outstanding(),
                      options.inFlight()),
                  adapter,
                  health,
                  deferredFree),
              parts -> family(parts, options),
              undo::close);
      undo.add(device::closeRings);
      device.start();
      undo.add(device::stop);
      LOG.debug(About.device(function.locator()), "up: profile {}, {}", profile.name(), limits);
      return device;
    } catch (RuntimeException e) {
      throw undo.because(Failures.of("cannot bring up " + function.locator(), e));
    } catch (InternalError e) {
      String what =
          "%s is gone: its registers fault (%s)".formatted(function.locator(), e.getMessage());
      throw undo.because(new VerbsException(Errno.EIO, what, e));
    } catch (Error e) {
      throw undo.because(e);
    }
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

  /**
   * How long the card may take for a command: {@code limit} of the locator, an ISO 8601 duration,
   * else the default in the card's time.
   */
  static Duration commandLimit(Locator locator) {
    TimeScale time = TimeScale.of(locator);
    String text = locator.parameter(DriverParameter.LIMIT.key()).orElse(null);
    if (text == null) {
      return time.stretch(CommandInterface.DEFAULT_LIMIT);
    }
    try {
      Duration limit = Duration.parse(text);
      if (limit.isPositive()) {
        return limit;
      }
    } catch (DateTimeParseException e) {
      throw badLimit(locator, text, e);
    }
    throw badLimit(locator, text, null);
  }

  private static VerbsException badLimit(Locator locator, String text, Throwable cause) {
    return new VerbsException(
        Errno.EINVAL,
        "%s: limit=%s must be a positive ISO-8601 duration, such as PT10S or PT5M"
            .formatted(locator, text),
        cause);
  }

  /** Selects the card family: what a device's objects are made of. */
  private static CardFamily family(DeviceParts parts, RtlOptions options) {
    return parts.card().limits().profile().flushesInHardware()
        ? new DocumentFamily(parts)
        : new RtlFamily(parts, options);
  }

  /** Ends the HCA; a card that does not respond is stopped by the later steps. */
  private static void closeHca(CommandInterface commands, PciFunction function) {
    try {
      commands.closeHca();
    } catch (RuntimeException e) {
      LOG.warn(About.device(function.locator()), "CLOSE_HCA failed: {}", e.getMessage());
    }
  }
}
