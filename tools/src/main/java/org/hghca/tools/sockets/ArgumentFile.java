package org.hghca.tools.sockets;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.hghca.sockets.RdmaSelectorProvider;

/**
 * An argument file of {@code java}. The provider is a module: {@code -jar} ignores the class path,
 * and the JDK loads a provider by the system class loader.
 */
final class ArgumentFile {
  static final String REPORT = "org.hghca.sockets.report";
  static final String NET = "org.hghca.sockets.net";

  private static final String PROVIDER = "java.nio.channels.spi.SelectorProvider";
  private static final String MODULE = "org.hghca.sockets";

  private ArgumentFile() {}

  /**
   * Its lines.
   *
   * @param path the module path; empty for none
   * @param properties with values as they are
   */
  static List<String> lines(String path, Map<String, String> properties) {
    List<String> lines = new ArrayList<>();
    if (!path.isEmpty()) {
      lines.add("--module-path=" + quoted(path));
    }
    lines.add("--add-modules=" + MODULE);
    lines.add("--enable-native-access=org.jnrproject.jffi,org.hghca.linux,org.hghca.vfio");
    lines.add("--add-exports=java.base/sun.nio.ch=" + MODULE);
    lines.add("--add-exports=java.base/jdk.internal.access=" + MODULE);
    lines.add("-D" + PROVIDER + "=" + RdmaSelectorProvider.class.getName());
    properties.forEach((name, value) -> lines.add("-D" + name + "=" + quoted(value)));
    return lines;
  }

  private static String quoted(String text) {
    return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
  }
}
