package org.hghca.tools.card;

import java.time.Duration;
import java.util.Optional;
import org.hghca.abi.HardwareProfile;
import org.hghca.vfio.Locator;

/**
 * The options of a session.
 *
 * @param locator of the card
 * @param profile the profile of the card as the user names it; empty to detect it
 * @param limit how long the card may take for a command
 * @param patience how long a line may take before the card is taken as stopped
 */
public record CardOptions(
    Locator locator, Optional<HardwareProfile> profile, Duration limit, Duration patience) {}
