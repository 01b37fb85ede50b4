package org.hghca.conformance.verbs;

import java.util.LinkedHashMap;
import java.util.Map;
import org.hghca.verbs.Context;
import org.hghca.verbs.RdmaDevices;
import org.hghca.verbs.VerbsException;
import org.junit.platform.launcher.LauncherSession;
import org.junit.platform.launcher.LauncherSessionListener;

/**
 * Keeps the devices under test open from the first test to the last: a reset and bring-up with the
 * first context can take a card longer than a test.
 */
public final class KeptDevices implements LauncherSessionListener {
  private static final Map<String, Context> OPEN = new LinkedHashMap<>();

  /** Used by the test platform. */
  public KeptDevices() {}

  /** Keeps a device open; a device in the error state is brought up again. */
  static synchronized void keep(String locator) {
    Context context = OPEN.remove(locator);
    if (context != null) {
      try {
        context.queryPort(1);
      } catch (VerbsException e) {
        context.close();
        context = null;
      }
    }
    OPEN.put(locator, context == null ? RdmaDevices.open(locator) : context);
  }

  @Override
  public void launcherSessionClosed(LauncherSession session) {
    synchronized (KeptDevices.class) {
      OPEN.values().forEach(Context::close);
      OPEN.clear();
    }
  }
}
