package org.hghca.conformance.hostile;

import java.util.concurrent.atomic.AtomicInteger;
import org.hghca.abi.Bar;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.Hcr;
import org.hghca.abi.HcrCommand;

/** Sabotage of commands: counts them, and misbehaves from a certain one on, or at that one only. */
abstract class CommandSabotage implements Sabotage {
  private static final long COMMAND = (long) HardwareProfile.S.hcrBase() + Hcr.COMMAND;

  private final int victim;
  private final AtomicInteger commands = new AtomicInteger();
  private volatile int op;

  /**
   * Sabotage of one command.
   *
   * @param victim its index, from 0; the probe of the HCR is not counted
   */
  CommandSabotage(int victim) {
    this.victim = victim;
  }

  /** The number of commands issued. */
  final int commands() {
    return commands.get();
  }

  /** Whether the sabotaged command was issued. */
  final boolean isReached() {
    return commands.get() > victim;
  }

  /** Whether it was the last command issued. */
  final boolean isAt() {
    return commands.get() == victim + 1;
  }

  /** The sabotaged command. */
  final HcrCommand command() {
    return HcrCommand.of(op).orElseThrow();
  }

  static boolean isCommandDword(int bar, long offset) {
    return bar == Bar.BAR0 && offset == COMMAND;
  }

  /**
   * The command is about to be issued.
   *
   * @return false to keep it from the device
   */
  boolean given() {
    return true;
  }

  @Override
  public boolean write(int bar, long offset, int width, long value) {
    if (isCommandDword(bar, offset) && Hcr.go((int) value)) {
      commands.incrementAndGet();
      if (!isAt()) {
        return true;
      }
      op = Hcr.op((int) value);
      return given();
    }
    return true;
  }
}
