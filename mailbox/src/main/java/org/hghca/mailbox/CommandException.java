package org.hghca.mailbox;

import org.hghca.abi.CommandStatus;
import org.hghca.abi.HcrCommand;
import org.hghca.vfio.Locator;

/** The card completed a command with a status other than OK; it still accepts commands. */
public final class CommandException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final transient Locator locator;
  private final HcrCommand command;
  private final int opModifier;
  private final int inModifier;
  private final int statusCode;

  CommandException(
      Locator locator, HcrCommand command, int opModifier, int inModifier, int statusCode) {
    super(
        "%s: %s (op_modifier %d, in_modifier 0x%x) ended with status %s"
            .formatted(
                locator, command, opModifier, inModifier, CommandStatus.describe(statusCode)));
    this.locator = locator;
    this.command = command;
    this.opModifier = opModifier;
    this.inModifier = inModifier;
    this.statusCode = statusCode;
  }

  /** The card that reported the status. */
  public Locator locator() {
    return locator;
  }

  public HcrCommand command() {
    return command;
  }

  public int opModifier() {
    return opModifier;
  }

  public int inModifier() {
    return inModifier;
  }

  /** The eight status bits of the HCR, never 0. The card may have or-ed several codes. */
  public int statusCode() {
    return statusCode;
  }
}
