package org.hghca.tools.bringup.cause;

import java.util.Optional;

/**
 * A step that failed.
 *
 * @param step its id
 * @param complaint what it complains of
 * @param difference how the bytes differ that it compared, as {@link ByteDifference} has it
 * @param lookAt where the step itself says to look
 */
public record Finding(String step, String complaint, Optional<String> difference, String lookAt) {}
