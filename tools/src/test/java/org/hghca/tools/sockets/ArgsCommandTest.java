package org.hghca.tools.sockets;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.lang.module.ModuleReader;
import java.lang.module.ModuleReference;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.hghca.programs.ExitCode;
import org.hghca.tools.CommandLineRun;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ArgsCommandTest {
  @Test
  void printsWhatAnImageNeeds() {
    CommandLineRun run =
        CommandLineRun.of(
                "sockets",
                "args",
                "--image",
                "-d",
                "model:a?net=shm:lab&ip=10.0.0.1,fd00::1",
                "-d",
                "hghca0",
                "--networks",
                "10.0.0.0/8",
                "--fallback",
                "tcp",
                "--net",
                "--report")
            .assertExit(0);

    assertThat(run.out().lines())
        .containsExactly(
            "--add-modules=org.hghca.sockets",
            "--enable-native-access=org.jnrproject.jffi,org.hghca.linux,org.hghca.vfio",
            "--add-exports=java.base/sun.nio.ch=org.hghca.sockets",
            "--add-exports=java.base/jdk.internal.access=org.hghca.sockets",
            "-Djava.nio.channels.spi.SelectorProvider=org.hghca.sockets.RdmaSelectorProvider",
            "-Dorg.hghca.sockets.devices=\"model:a?net=shm:lab&ip=10.0.0.1,fd00::1;hghca0\"",
            "-Dorg.hghca.sockets.networks=\"10.0.0.0/8\"",
            "-Dorg.hghca.sockets.fallback=\"tcp\"",
            "-Dorg.hghca.sockets.net=\"true\"",
            "-Dorg.hghca.sockets.report=\"true\"");
  }

  @ParameterizedTest
  @CsvSource({
    "10.0.0.0/99, none, org.hghca.sockets.networks",
    "10.0.0.0/8, udp, org.hghca.sockets.fallback"
  })
  void whatTheProgramWouldRefuseIsRefused(String networks, String fallback, String named) {
    CommandLineRun run =
        CommandLineRun.of(
                "sockets", "args", "-d", "model:a", "--networks", networks, "--fallback", fallback)
            .assertExit(ExitCode.USAGE.code());

    assertThat(run.err()).contains(named);
    assertThat(run.out()).isEmpty();
  }

  @Test
  void aPathOfSpacesAndQuotesIsQuoted() {
    assertThat(ArgumentFile.lines("/a b/\"c\\.jar", Map.of()).getFirst())
        .isEqualTo("--module-path=\"/a b/\\\"c\\\\.jar\"");
  }

  @Test
  void theModulePathHoldsWhatSocketsAndDriversRequireAndNothingElse() {
    ModuleFinder modules =
        new Modules(
            module("org.hghca.sockets", "org.hghca.cm"),
            module("org.hghca.cm", "java.base", "org.slf4j"),
            module("org.hghca.driver", "org.hghca.linux"),
            module("org.hghca.linux", "org.jnrproject.ffi"),
            module("org.hghca.virtio.driver"),
            module("org.hghca.model"),
            module("org.slf4j"),
            module("org.hghca.tools", "info.picocli"),
            module("info.picocli"),
            ModuleDescriptor.newAutomaticModule("org.jnrproject.ffi").build(),
            ModuleDescriptor.newAutomaticModule("jnr.x86asm").build(),
            ModuleDescriptor.newAutomaticModule("HdrHistogram").build());

    assertThat(SocketModules.path(modules).split(":"))
        .containsExactlyInAnyOrder(
            "/m/org.hghca.sockets",
            "/m/org.hghca.cm",
            "/m/org.hghca.driver",
            "/m/org.hghca.linux",
            "/m/org.hghca.virtio.driver",
            "/m/org.hghca.model",
            "/m/org.slf4j",
            "/m/org.jnrproject.ffi",
            "/m/jnr.x86asm");
  }

  private static ModuleDescriptor module(String name, String... required) {
    ModuleDescriptor.Builder builder = ModuleDescriptor.newModule(name);
    List.of(required).forEach(builder::requires);
    return builder.build();
  }

  private static final class Modules implements ModuleFinder {
    private final Map<String, ModuleReference> references;

    Modules(ModuleDescriptor... descriptors) {
      references =
          Stream.of(descriptors)
              .collect(Collectors.toMap(ModuleDescriptor::name, Modules::reference));
    }

    private static ModuleReference reference(ModuleDescriptor descriptor) {
      return new ModuleReference(descriptor, URI.create("file:///m/" + descriptor.name())) {
        @Override
        public ModuleReader open() throws IOException {
          throw new IOException();
        }
      };
    }

    @Override
    public Optional<ModuleReference> find(String name) {
      return Optional.ofNullable(references.get(name));
    }

    @Override
    public Set<ModuleReference> findAll() {
      return Set.copyOf(references.values());
    }
  }
}
