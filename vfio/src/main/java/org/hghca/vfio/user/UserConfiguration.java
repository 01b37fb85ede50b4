package org.hghca.vfio.user;

import org.hghca.log.About;
import org.hghca.log.ConditionLog;
import org.hghca.vfio.ConfigurationSpace;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.user.UserStructures.RegionInfo;

/**
 * The configuration space of a function behind a socket: each access is one message and waits for
 * its reply.
 */
final class UserConfiguration implements ConfigurationSpace {
  private static final ConditionLog LOG = ConditionLog.of(UserConfiguration.class);

  // PCI Local Bus Specification 3.0, 6.1, 6.7, 6.8.
  private static final int STATUS = 0x06;
  private static final int STATUS_CAPABILITIES = 1 << 4;
  private static final int CAPABILITIES = 0x34;
  private static final int FIRST_CAPABILITY = 0x40;
  private static final int MOST_CAPABILITIES = (256 - FIRST_CAPABILITY) / 4;
  private static final int MESSAGE_CONTROL = 2;

  private final UserConnection connection;

  UserConfiguration(UserConnection connection) {
    this.connection = connection;
  }

  @Override
  public int read(int offset, int width) {
    ConfigurationSpace.checkAccess(offset, width);
    try {
      return (int) connection.read(RegionInfo.CONFIGURATION, offset, width);
    } catch (VfioException e) {
      LOG.debug(About.NOTHING, "read of {} bytes of configuration at {}", width, offset, e);
      return -1 >>> 32 - 8 * width;
    }
  }

  @Override
  public void write(int offset, int width, int value) {
    ConfigurationSpace.checkAccess(offset, width);
    try {
      connection.write(RegionInfo.CONFIGURATION, offset, width, value);
    } catch (VfioException e) {
      LOG.debug(About.NOTHING, "write of {} bytes of configuration at {}", width, offset, e);
    }
  }

  /**
   * Sets a bit in the message control of a capability, if the function has that: a function does
   * not raise message interrupts until they are enabled there.
   */
  void enable(int capability, int bit) {
    if ((read(STATUS, 2) & STATUS_CAPABILITIES) == 0) {
      return;
    }
    int at = read(CAPABILITIES, 1) & ~3;
    for (int i = 0; i < MOST_CAPABILITIES && at >= FIRST_CAPABILITY; i++) {
      int header = read(at, 2);
      if ((header & 0xff) == capability) {
        write(at + MESSAGE_CONTROL, 2, read(at + MESSAGE_CONTROL, 2) | bit);
        return;
      }
      at = header >>> 8 & ~3;
    }
  }
}
