package org.hghca.cm.device;

import java.util.function.Supplier;
import org.hghca.verbs.Context;

/**
 * A device in use.
 *
 * @param context of the program, or of the library
 * @param carriers of the device, which another context of it may have opened
 */
public record SharedDevice(Context context, DeviceCarriers carriers) {

  /** The device of a program's context, which stays the program's; {@link #release} is due. */
  public static SharedDevice of(Context context) {
    return new SharedDevice(
        context, DeviceCarriers.use(context.device().locator(), () -> context, false));
  }

  /** A device that is opened for its first user; {@link #release} is due. */
  public static SharedDevice of(String locator, Supplier<Context> opener) {
    DeviceCarriers carriers = DeviceCarriers.use(locator, opener, true);
    return new SharedDevice(carriers.context(), carriers);
  }

  /** This device, for one more user: {@link #release} is due. For handlers of events, too. */
  public SharedDevice retained() {
    carriers.retain();
    return this;
  }

  public void release() {
    carriers.release();
  }
}
