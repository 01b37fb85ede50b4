package org.hghca.tools.bringup.board;

import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.List;
import java.util.Optional;
import org.hghca.abi.HardwareProfile;
import org.hghca.programs.CompletedValues;
import org.hghca.programs.EmbeddedHca;
import org.hghca.verbs.RdmaDevice;
import org.hghca.verbs.RdmaDevices;
import org.hghca.vfio.Locator;
import org.hghca.vfio.VfioException;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options of a command that drives a board without the driver of the verbs. */
public final class BoardOptions {
  private static final String AUTO = "auto";

  @Spec(Spec.Target.MIXEE)
  private CommandSpec spec;

  @Option(
      names = {"-d", "--ib-dev"},
      completionCandidates = CompletedValues.Devices.class,
      paramLabel = "<dev>",
      description = "Name or locator of the board.")
  private String device;

  @Option(
      names = "--profile",
      completionCandidates = CompletedValues.Profiles.class,
      paramLabel = "<name>",
      description = "Profile that the card must have: auto, s, r1 or r2 (default: auto).")
  private String profile = AUTO;

  @Option(
      names = "--limit",
      paramLabel = "<duration>",
      description =
          "Longest time of an answer, such as PT2S; a card in a logic simulator"
              + " needs minutes (default: PT2S, times slow= of the locator).")
  private String limit;

  /** The locator of the board; the software HCA where there is no card and no option. */
  public String locator() {
    if (device != null) {
      return locator(device);
    }
    List<RdmaDevice> devices = RdmaDevices.list();
    return locator(
        devices.isEmpty()
            ? EmbeddedHca.insteadOfCard(spec.commandLine().getErr())
            : devices.getFirst().locator());
  }

  /** The locator that a name stands for; a locator stands for itself. */
  public String locator(String name) {
    Optional<String> known =
        RdmaDevices.list().stream()
            .filter(found -> found.name().equals(name))
            .map(RdmaDevice::locator)
            .findFirst();
    String locator = known.orElse(name);
    try {
      return Locator.parse(locator).toString();
    } catch (VfioException e) {
      throw wrong(e.getMessage());
    }
  }

  /** The profile that the user names. */
  public Optional<HardwareProfile> profile() {
    if (profile.equals(AUTO)) {
      return Optional.empty();
    }
    try {
      return Optional.of(HardwareProfile.byName(profile));
    } catch (IllegalArgumentException e) {
      throw wrong("--profile: " + e.getMessage() + ", or auto");
    }
  }

  /** As long as a board may usually take, unless the user names a time. */
  public Duration limit(String board) {
    if (limit != null) {
      return duration();
    }
    try {
      return BringupOptions.limit(board);
    } catch (VfioException e) {
      throw wrong(e.getMessage());
    }
  }

  private Duration duration() {
    try {
      Duration parsed = Duration.parse(limit);
      if (parsed.isPositive()) {
        return parsed;
      }
    } catch (DateTimeParseException e) {
      // Told below.
    }
    throw wrong("--limit=" + limit + " must be a positive ISO-8601 duration, such as PT2S or PT5M");
  }

  private ParameterException wrong(String message) {
    return new ParameterException(spec.commandLine(), message);
  }
}
