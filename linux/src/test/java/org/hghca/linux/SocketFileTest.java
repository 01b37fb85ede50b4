package org.hghca.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.GroupPrincipal;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Who may write to the file of a socket. */
final class SocketFileTest {
  private final SystemCalls linux = Linux.system();
  private final int socket = linux.socket(1, 1, 0);

  @TempDir Path folder;
  private Path file;

  @BeforeEach
  void bind() {
    file = folder.resolve("socket");
    assertThat(SocketFile.restrictToOwner(linux, socket)).isZero();
    byte[] path = (file + "\0").getBytes(StandardCharsets.UTF_8);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment address = arena.allocate(2L + path.length, 8);
      address.set(ValueLayout.JAVA_SHORT, 0, (short) 1);
      MemorySegment.copy(path, 0, address, ValueLayout.JAVA_BYTE, 2, path.length);
      assertThat(linux.bind(socket, address)).isZero();
    }
  }

  @AfterEach
  void close() {
    linux.close(socket);
  }

  /** The superuser may give a file to any group, others to their own. */
  private GroupPrincipal anyGroup() throws IOException {
    return linux.geteuid() == 0
        ? folder.getFileSystem().getUserPrincipalLookupService().lookupPrincipalByGroupName("4242")
        : Files.readAttributes(folder, PosixFileAttributes.class).group();
  }

  private static String mode(Path file) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
  }

  @Test
  void ownerAloneMayConnect() throws IOException {
    assertThat(mode(file)).isEqualTo("rw-------");
  }

  @Test
  void membersOfTheGroupMayConnect() throws IOException {
    SocketFile.share(linux, file, anyGroup());
    assertThat(mode(file)).isEqualTo("rw-rw----");
    assertThat(Files.readAttributes(file, PosixFileAttributes.class).group()).isEqualTo(anyGroup());
  }

  @Test
  void anotherFileInItsPlaceIsNotTouched() throws IOException {
    Path precious = Files.writeString(folder.resolve("precious"), "precious");
    String before = mode(precious);
    Files.createLink(folder.resolve("again"), file);
    assertRefused("another file");
    Files.delete(file);
    assertRefused("ENOENT");
    Files.createSymbolicLink(file, precious);
    assertRefused("another file");
    Files.delete(file);
    Files.move(precious, file);
    assertRefused("another file");
    assertThat(mode(file)).isEqualTo(before);
  }

  private void assertRefused(String why) {
    assertThatThrownBy(() -> SocketFile.share(linux, file, anyGroup()))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(why);
  }
}
