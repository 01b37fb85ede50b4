package org.hghca.tools;

import java.util.function.Supplier;

/** Runs an action while {@code -Dhghca.devices} names devices. */
public final class ConfiguredDevices {
  private static final String PROPERTY = "hghca.devices";

  private ConfiguredDevices() {}

  public static <T> T call(String locators, Supplier<T> action) {
    String before = System.getProperty(PROPERTY);
    System.setProperty(PROPERTY, locators);
    try {
      return action.get();
    } finally {
      if (before == null) {
        System.clearProperty(PROPERTY);
      } else {
        System.setProperty(PROPERTY, before);
      }
    }
  }
}
