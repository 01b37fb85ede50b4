package org.hghca.sockets;

/**
 * An action at the end of the JVM, after the shutdown hooks of the program, which may still use its
 * sockets: a broker leaves its cluster in one. The JDK has places for that, which it keeps to
 * itself; where they are not exported the action is a hook beside the program's own.
 */
final class LastHook {
  private static final String ACCESS = "jdk.internal.access.";

  /** The last of the JDK's places: the program's hooks run in the second. */
  private static final int PLACE = 9;

  private LastHook() {}

  /** Runs an action once, when the JVM ends. */
  static void add(Runnable action) {
    try {
      Object access =
          Class.forName(ACCESS + "SharedSecrets").getMethod("getJavaLangAccess").invoke(null);
      Class.forName(ACCESS + "JavaLangAccess")
          .getMethod("registerShutdownHook", int.class, boolean.class, Runnable.class)
          .invoke(access, PLACE, true, action);
    } catch (ReflectiveOperationException e) {
      // not exported, or another provider of this process has the place
      addBeside(action);
    }
  }

  private static void addBeside(Runnable action) {
    try {
      Runtime.getRuntime().addShutdownHook(new Thread(action, "hghca-sockets-end"));
    } catch (IllegalStateException e) {
      // the JVM ends already, and with it all that is open
    }
  }
}
