package org.hghca.tools.launch;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.jar.JarFile;
import java.util.stream.Collectors;
import org.hghca.vfio.PciFunctionProvider;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;

/**
 * External backends in a jar.
 *
 * @param jar the jar
 * @param schemes of the locators that they open
 */
public record Plugin(Path jar, List<String> schemes) {

  /**
   * Loads plugins, which the calling thread and those that it starts find from then on.
   *
   * @param jars or folders of classes; libraries of a jar are in its manifest, as {@code
   *     Class-Path}
   * @throws VfioException {@code INVALID} naming the error in one; then none is loaded
   */
  public static List<Plugin> load(List<Path> jars) {
    ClassLoader loader = Thread.currentThread().getContextClassLoader();
    List<Plugin> plugins = new ArrayList<>();
    for (Path jar : jars) {
      // Never closed: a thread of an unfinished session may need it until the end.
      loader = new URLClassLoader(new URL[] {url(jar)}, loader);
      plugins.add(new Plugin(jar, schemes(jar, loader)));
    }
    Thread.currentThread().setContextClassLoader(loader);
    return plugins;
  }

  private static URL url(Path jar) {
    try {
      if (!Files.isDirectory(jar)) {
        new JarFile(jar.toFile()).close();
      }
      return jar.toAbsolutePath().toUri().toURL();
    } catch (MalformedURLException e) {
      throw new UncheckedIOException(e);
    } catch (IOException e) {
      String what =
          Files.exists(jar) ? "is not a jar (%s)".formatted(e.getMessage()) : "does not exist";
      throw new VfioException(Reason.INVALID, "plugin %s %s".formatted(jar, what), e);
    }
  }

  /** The schemes of a plugin, none of which another backend has. */
  private static List<String> schemes(Path jar, ClassLoader loader) {
    List<PciFunctionProvider> own = new ArrayList<>();
    List<PciFunctionProvider> others = new ArrayList<>();
    try {
      for (PciFunctionProvider provider : ServiceLoader.load(PciFunctionProvider.class, loader)) {
        (loader.equals(provider.getClass().getClassLoader()) ? own : others).add(provider);
      }
    } catch (ServiceConfigurationError | LinkageError e) {
      throw new VfioException(Reason.INVALID, "plugin %s: %s".formatted(jar, e.getMessage()), e);
    }
    if (own.isEmpty()) {
      throw new VfioException(
          Reason.INVALID,
          "plugin %s contains no backend: name it in META-INF/services/%s"
              .formatted(jar, PciFunctionProvider.class.getName()));
    }
    for (PciFunctionProvider provider : own) {
      for (PciFunctionProvider other : others) {
        if (other.scheme().equals(provider.scheme())) {
          throw new VfioException(
              Reason.INVALID,
              "plugin %s: %s cannot take over the scheme %s:, which belongs to %s"
                  .formatted(
                      jar,
                      provider.getClass().getName(),
                      provider.scheme(),
                      other.getClass().getName()));
        }
      }
    }
    return own.stream().map(PciFunctionProvider::scheme).sorted().toList();
  }

  /** Its description. */
  public String describe() {
    return schemes.stream().map(scheme -> scheme + ":").collect(Collectors.joining(", "))
        + " from "
        + jar;
  }
}
