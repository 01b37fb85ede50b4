package org.hghca.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.GroupPrincipal;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.FutureTask;
import org.hghca.vfio.Locator;
import org.hghca.vfio.VfioException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Who may connect to a socket with captures. */
final class CaptureAccessTest {
  private final SoftwareHca hca = ModelProvider.plugIn(Locator.parse("model:captured"));

  @TempDir Path folder;

  @AfterEach
  void close() {
    hca.close();
  }

  /** The modes with which a file is seen, until the thread is interrupted. */
  private static Set<String> modes(Path path) throws IOException {
    Set<String> modes = new TreeSet<>();
    while (!Thread.currentThread().isInterrupted()) {
      try {
        modes.add(mode(path));
      } catch (NoSuchFileException e) {
        // Between two sockets.
      }
    }
    return modes;
  }

  private static String mode(Path path) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
  }

  @Test
  void socketIsTheOwnersAloneFromTheFirstMoment() throws Exception {
    Path path = folder.resolve("captures");
    FutureTask<Set<String>> watching = new FutureTask<>(() -> modes(path));
    Thread watcher = Thread.ofPlatform().daemon().start(watching);
    for (int i = 0; i < 300; i++) {
      try (CaptureSocket _ = CaptureSocket.open(path, hca)) {
        assertThat(mode(path)).isEqualTo("rw-------");
      }
    }
    watcher.interrupt();
    assertThat(watching.get()).isSubsetOf("rw-------");
    assertThat(folder).isEmptyDirectory();
  }

  @Test
  void socketIsTheGroupsToo() throws IOException {
    Path path = folder.resolve("captures");
    GroupPrincipal group = Files.readAttributes(folder, PosixFileAttributes.class).group();
    try (CaptureSocket _ = CaptureSocket.open(path, Optional.of(group), hca)) {
      assertThat(mode(path)).isEqualTo("rw-rw----");
      assertThat(Files.readAttributes(path, PosixFileAttributes.class).group()).isEqualTo(group);
    }
  }

  @Test
  void pathMayHaveAllBytesThatASocketTakes() {
    Path path =
        folder.resolve("x".repeat(107 - ".capture".length() - folder.toString().length() - 1));
    CaptureSocket.open(CaptureSocket.beside(path.toString()), hca).close();
    assertThat(folder).isEmptyDirectory();
  }

  @Test
  void anotherFileIsNotReplaced() throws IOException {
    Path file = Files.writeString(folder.resolve("file"), "precious");
    assertThatThrownBy(() -> CaptureSocket.open(file, hca))
        .isInstanceOf(VfioException.class)
        .hasMessage("captures: no socket at '%s': it exists and is no socket".formatted(file));
    assertThat(file).hasContent("precious");
    assertThatThrownBy(() -> CaptureSocket.open(folder.resolve("no/where"), hca))
        .isInstanceOf(VfioException.class)
        .hasMessageContaining("NoSuchFileException");
    assertThat(folder).isDirectoryContaining(entry -> entry.equals(file));
  }
}
