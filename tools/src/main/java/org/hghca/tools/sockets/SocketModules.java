package org.hghca.tools.sockets;

import java.io.File;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.lang.module.ModuleReference;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The modules that sockets over RDMA need, and no others: a module on a program's path takes the
 * place of what the program has of the same name.
 */
final class SocketModules {
  /** What nothing requires by name: the drivers, and the software HCA. */
  private static final String[] ROOTS = {
    "org.hghca.sockets", "org.hghca.driver", "org.hghca.virtio.driver", "org.hghca.model"
  };

  /** Of modules without a descriptor, which says what they require. */
  private static final String NATIVE_ACCESS = "jnr";

  private SocketModules() {}

  /** The module path of this program, or its class path where it has none. */
  static ModuleFinder ofThisProgram() {
    String path =
        Optional.ofNullable(System.getProperty("jdk.module.path"))
            .orElseGet(() -> System.getProperty("java.class.path"));
    return ModuleFinder.of(
        Arrays.stream(path.split(File.pathSeparator)).map(Path::of).toArray(Path[]::new));
  }

  /** The module path with what is needed of these modules. */
  static String path(ModuleFinder modules) {
    Map<String, URI> needed = new TreeMap<>();
    Deque<String> open = new ArrayDeque<>(Arrays.asList(ROOTS));
    modules.findAll().stream()
        .map(ModuleReference::descriptor)
        .filter(ModuleDescriptor::isAutomatic)
        .map(ModuleDescriptor::name)
        .filter(name -> name.contains(NATIVE_ACCESS))
        .forEach(open::add);
    while (!open.isEmpty()) {
      String name = open.remove();
      Optional<ModuleReference> found =
          needed.containsKey(name) ? Optional.empty() : modules.find(name);
      found.ifPresent(
          module -> {
            needed.put(name, module.location().orElseThrow());
            module.descriptor().requires().forEach(required -> open.add(required.name()));
          });
    }
    return needed.values().stream()
        .map(location -> Path.of(location).toString())
        .collect(Collectors.joining(File.pathSeparator));
  }
}
