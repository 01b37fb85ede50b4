package org.hghca.tools.bringup.board;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import org.hghca.tools.bringup.step.Observation;
import org.hghca.tools.bringup.step.StepNotJudgedException;
import org.hghca.tools.bringup.step.Waits;
import org.hghca.tools.raw.CommandRecord;
import org.hghca.tools.raw.PciErrors;
import org.hghca.tools.raw.SystemConfiguration;
import org.hghca.tools.raw.TappedFunction;
import org.hghca.verbs.Context;
import org.hghca.verbs.Errno;
import org.hghca.verbs.RdmaDevices;
import org.hghca.verbs.VerbsException;
import org.hghca.vfio.ConfigurationSpace;
import org.hghca.vfio.DriverParameter;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunctions;
import org.hghca.vfio.TimeScale;
import org.hghca.vfio.UndoStack;

/** The board through its driver, and the device at the other end. One thread at a time. */
public final class Driver {
  public static final int PORT = 1;

  /** Entries of an event queue: so few that a slow card turns it. */
  public static final int EVENT_RING = 128;

  private final Target board;
  private final RaisedEvents events = new RaisedEvents();
  private final FunctionErrors errors = new FunctionErrors();

  private final Bench bench;
  private final UndoStack held = new UndoStack();
  private final List<CommandRecord> commands = new ArrayList<>();
  private TappedFunction tapped;
  private Context left;
  private Context peer;
  private boolean looped;

  /** The board was given back, and could not be opened again. */
  private boolean lost;

  private boolean reportsDmaFaults;

  /**
   * On a board.
   *
   * @param bench tells whether its function must be tapped, and its objects kept
   */
  public Driver(Target board, Bench bench) {
    this.board = board;
    this.bench = bench;
  }

  public BringupOptions options() {
    return board.options();
  }

  public Waits waits() {
    return board.waits();
  }

  public Abilities abilities() {
    return board.abilities();
  }

  /**
   * The board's locator with limit and profile of this session and with short event queues, where
   * it names none of its own.
   */
  public String locator() {
    Locator locator = board.locator();
    SortedMap<String, String> parameters = new TreeMap<>(locator.parameters());
    options().profile().ifPresent(profile -> parameters.putIfAbsent("as", profile.name()));
    if (abilities() != null && abilities().eventQueues()) {
      parameters.putIfAbsent(DriverParameter.EVENT_ENTRIES.key(), Integer.toString(EVENT_RING));
    }
    return withLimit(new Locator(locator.scheme(), locator.name(), parameters));
  }

  /** The locator of the other end: the same, unless there is a peer. */
  public String peerLocator() {
    return options().loop() == Loop.PEER ? withLimit(Locator.parse(options().peer())) : locator();
  }

  private String withLimit(Locator locator) {
    SortedMap<String, String> parameters = new TreeMap<>(locator.parameters());
    parameters.putIfAbsent("limit", options().limit().toString());
    return new Locator(locator.scheme(), locator.name(), parameters).toString();
  }

  /** Shuts the board down and lets the driver bring it up. */
  public void open() {
    reportsDmaFaults = board.function() == null || board.function().reportsDmaFaults();
    board.close();
    reopen();
  }

  /** Resets the board and brings it up again. */
  public void reopen() {
    collectEvents();
    errors.look();
    lost = left != null;
    close();
    if (bench.taps() || !board.settle().isZero()) {
      TappedDriver opened =
          TappedDriver.open(Locator.parse(locator()), board.hcrBase().getAsInt(), board.settle());
      tapped = opened.function();
      left = opened.context();
    } else {
      left = RdmaDevices.open(locator());
    }
    errors.begin(configuration());
    try {
      peer = options().loop() == Loop.PEER ? RdmaDevices.open(peerLocator()) : null;
    } catch (RuntimeException e) {
      close();
      throw e;
    }
    lost = false;
  }

  /** Configuration space of the open board; empty where it cannot be read beside the driver. */
  private Optional<ConfigurationSpace> configuration() {
    return tapped == null
        ? SystemConfiguration.of(PciFunctions.resolve(board.locator()))
        : Optional.of(tapped.configuration());
  }

  /**
   * The errors that the function has reported while the driver had it, up to now; empty where its
   * configuration space cannot be read beside the driver.
   */
  public Optional<PciErrors> newErrors() {
    errors.look();
    return errors.found();
  }

  /** Whether objects of a step stay until {@link #release}. */
  public boolean isKept() {
    return bench.keep();
  }

  /** Collects asynchronous events: those of an object are gone when it is closed. */
  private void collectEvents() {
    if (left != null) {
      events.collect(left);
    }
    if (peer != null) {
      events.collect(peer);
    }
  }

  /** The asynchronous events since the last call that say that something is wrong. */
  public List<String> takeEvents() {
    collectEvents();
    return events.take();
  }

  /** The commands of a driver whose function is tapped, since the last call. */
  public List<CommandRecord> takeCommands() {
    collectCommands();
    List<CommandRecord> taken = List.copyOf(commands);
    commands.clear();
    return taken;
  }

  private void collectCommands() {
    if (tapped != null) {
      commands.addAll(tapped.commands());
    }
  }

  /** The function of the open board, if it is tapped. */
  public Optional<TappedFunction> tapped() {
    return Optional.ofNullable(tapped);
  }

  /**
   * Closes objects of a step, at once or, where a prompt may look at them, at {@link #release}.
   *
   * @param closing closes them
   */
  public void close(Runnable closing) {
    collectEvents();
    if (bench.keep()) {
      held.add(closing);
    } else {
      closing.run();
    }
  }

  /** Closes what is held back; the step has ended, and nobody looks at it. */
  public void release() {
    held.close();
  }

  /** The board. */
  public Context left() {
    return left;
  }

  /** The other end, which may be the board itself. */
  public Context right() {
    return peer == null ? left : peer;
  }

  /** A message came back. */
  public void looped() {
    looped = true;
  }

  public boolean isLooped() {
    return looped;
  }

  /** A duration on a card, in the time of the device. */
  public Duration stretch(Duration duration) {
    return TimeScale.of(board.locator()).stretch(duration);
  }

  /** Whether the user has asked for a driver, or a software device, without interrupts. */
  public boolean isWithoutInterrupts() {
    Locator locator = Locator.parse(peerLocator());
    return locator.parameter("events").filter("poll"::equals).isPresent()
        || locator.parameter("interrupts").filter("none"::equals).isPresent();
  }

  /** Whether a message came back before the driver opened the board. */
  public boolean isRawLooped() {
    return board.isLooped();
  }

  /** Whether the platform reports the accesses to memory that it refuses. */
  public boolean reportsDmaFaults() {
    return reportsDmaFaults;
  }

  /**
   * Checks that the driver opens the board.
   *
   * @throws StepNotJudgedException when it does not open a card of its kind without a reset
   */
  public void checkClean() {
    if (abilities().needsCleanState() && !board.canReset() && !board.isAssumedClean()) {
      throw Observation.notJudged(
          "the function has no reset, and the driver does not open a card of the makers' RTL that"
              + " may hold old positions: load the bitstream, and add assumeClean=true to the"
              + " locator");
    }
  }

  /** Whether one of the devices no longer works. */
  public boolean isBroken() {
    return lost || left != null && (isBroken(left) || isBroken(right()));
  }

  private static boolean isBroken(Context context) {
    try {
      context.allocateProtectionDomain().close();
      return false;
    } catch (VerbsException e) {
      return e.errno() == Errno.EIO;
    }
  }

  /** Releases the board; does nothing if it is not open. */
  public void close() {
    Context closing = left;
    Context other = peer;
    left = null;
    peer = null;
    closeHeld();
    try {
      if (other != null) {
        other.close();
      }
      if (closing != null) {
        closing.close();
      }
    } finally {
      collectCommands();
      tapped = null;
    }
  }

  /** After a failure: what cannot be closed has failed with it. */
  private void closeHeld() {
    try {
      held.close();
    } catch (RuntimeException e) {
      // The step has failed already; the device is closed next.
    }
  }
}
