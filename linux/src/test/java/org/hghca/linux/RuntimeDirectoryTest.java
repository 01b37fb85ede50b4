package org.hghca.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Where processes of a user find each other. */
class RuntimeDirectoryTest {
  private static final SystemCalls LINUX = Linux.system();

  @TempDir private Path top;

  private Path directory(String property, String session, String... names) throws IOException {
    return RuntimeDirectory.directory(
        LINUX.geteuid(), property, session, top.resolve("run"), names);
  }

  private static String mode(Path path) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
  }

  @Test
  void propertyComesFirst() throws IOException {
    Path wanted = top.resolve("mine");
    assertThat(directory(wanted.toString(), top.toString(), "shm", "lab"))
        .isEqualTo(wanted.resolve("shm/lab"))
        .isDirectory();
    assertThat(mode(wanted)).isEqualTo("rwx------");
    assertThat(mode(wanted.resolve("shm"))).isEqualTo("rwx------");
    assertThat(mode(wanted.resolve("shm/lab"))).isEqualTo("rwx------");
  }

  @Test
  void directoryOfThisProcessIsTheSameWithoutItsSystemCalls() throws IOException {
    System.setProperty(RuntimeDirectory.PROPERTY, top.resolve("own").toString());
    try {
      assertThat(RuntimeDirectory.directory("one"))
          .isEqualTo(top.resolve("own/one"))
          .isDirectory()
          .isEqualTo(RuntimeDirectory.directory(LINUX, "one"));
    } finally {
      System.clearProperty(RuntimeDirectory.PROPERTY);
    }
  }

  @Test
  void directoryOfTheSessionComesNext() throws IOException {
    assertThat(directory(null, top.toString(), "shm")).isEqualTo(top.resolve("hghca/shm"));
    assertThat(directory("", top.toString())).isEqualTo(top.resolve("hghca"));
  }

  @Test
  void thenThatOfTheUser() throws IOException {
    Path own = top.resolve("run/user").resolve(Integer.toUnsignedString(LINUX.geteuid()));
    Files.createDirectories(own);
    assertThat(directory(null, null, "shm")).isEqualTo(own.resolve("hghca/shm"));
    assertThat(directory(null, "relative", "shm")).isEqualTo(own.resolve("hghca/shm"));
  }

  @Test
  void rootHasOneOfTheSystem() throws IOException {
    assumeThat(LINUX.geteuid()).isZero();
    Files.createDirectories(top.resolve("run"));
    assertThat(directory(null, null)).isEqualTo(top.resolve("run/hghca"));
  }

  @Test
  void otherUsersNeedTheProperty() {
    assumeThat(LINUX.geteuid()).isNotZero();
    assertThatThrownBy(() -> directory(null, null)).hasMessageContaining("-Dhghca.runtime.dir=");
  }

  @Test
  void directoryThatIsOpenToOthersIsRefused() throws IOException {
    Path open = Files.createDirectory(top.resolve("open"));
    Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rwxr-x---"));
    assertThatThrownBy(() -> directory(open.toString(), null))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(open.toString())
        .hasMessageContaining("chmod 700")
        .hasMessageContaining("-Dhghca.runtime.dir=");
  }

  @Test
  void fileAndLinkAreNoDirectories() throws IOException {
    Path file = Files.createFile(top.resolve("file"));
    assertThatThrownBy(() -> directory(file.toString(), null)).hasMessageContaining("no directory");
    Path link = Files.createSymbolicLink(top.resolve("link"), top);
    assertThatThrownBy(() -> directory(link.toString(), null)).hasMessageContaining("no directory");
  }

  @Test
  void directoryOfAnotherUserIsRefused() throws IOException {
    assumeThat(LINUX.geteuid()).isZero();
    Path others = Files.createDirectory(top.resolve("others"));
    Files.setAttribute(others, "unix:uid", 12345);
    assertThatThrownBy(() -> directory(others.toString(), null))
        .hasMessageContaining("belongs to user 12345");
  }

  @Test
  void placeThatIsNotThereIsNamed() {
    Path missing = top.resolve("not/there");
    assertThatThrownBy(() -> directory(missing.toString(), null))
        .hasMessageContaining(missing.toString())
        .hasMessageContaining("-Dhghca.runtime.dir=");
  }
}
