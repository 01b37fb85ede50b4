package org.hghca.sockets;

import java.nio.channels.spi.SelectorProvider;

/** The provider that the JDK has without a property. */
final class Platform {
  private static final String PROVIDERS = "sun.nio.ch.DefaultSelectorProvider";

  private Platform() {}

  /**
   * Finds it.
   *
   * @throws IllegalStateException naming the option, when the JVM does not let it be reached
   */
  static SelectorProvider provider() {
    SelectorProvider system = SelectorProvider.provider();
    if (!system.getClass().getPackageName().equals(Platform.class.getPackageName())) {
      return system;
    }
    try {
      return (SelectorProvider) Class.forName(PROVIDERS).getMethod("get").invoke(null);
    } catch (ReflectiveOperationException e) {
      Module own = Platform.class.getModule();
      throw new IllegalStateException(
          "the JDK's own sockets cannot be reached: JDK_JAVA_OPTIONS='--add-exports=java.base/sun.nio.ch=%s', as `hghca sockets args` prints it"
              .formatted(own.isNamed() ? own.getName() : "ALL-UNNAMED"),
          e);
    }
  }
}
