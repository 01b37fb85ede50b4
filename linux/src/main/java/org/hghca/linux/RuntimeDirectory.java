package org.hghca.linux;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.Set;

/**
 * Where the processes of one user find each other: {@code -Dhghca.runtime.dir}, else {@code
 * $XDG_RUNTIME_DIR/hghca}, else {@code /run/user/UID/hghca}, for root {@code /run/hghca}. It is
 * this user's, and nobody else may enter.
 */
public final class RuntimeDirectory {
  /** The property that names it. */
  public static final String PROPERTY = "hghca.runtime.dir";

  /** How to name another one. */
  public static final String REMEDY =
      "--runtime-dir=DIR names one of yours, in a program -D" + PROPERTY + "=DIR";

  private static final String NAME = "hghca";
  private static final Set<PosixFilePermission> PRIVATE =
      PosixFilePermissions.fromString("rwx------");

  private RuntimeDirectory() {}

  /**
   * Makes a directory in it, and all above, where they are not there.
   *
   * @param names of the directory, one below the other
   * @throws IOException saying what is wrong with which directory, and naming the property
   */
  public static Path directory(SystemCalls linux, String... names) throws IOException {
    return directory(linux.geteuid(), names);
  }

  /** As {@link #directory(SystemCalls, String...)}, without a system call of our own to bind. */
  public static Path directory(String... names) throws IOException {
    return directory((int) Files.getAttribute(Path.of("/proc/self"), "unix:uid"), names);
  }

  private static Path directory(int user, String... names) throws IOException {
    return directory(
        user,
        System.getProperty(PROPERTY),
        System.getenv("XDG_RUNTIME_DIR"),
        Path.of("/run"),
        names);
  }

  /**
   * See {@link #directory(SystemCalls, String...)}.
   *
   * @param user its owner
   * @param property its value, or null
   * @param session the directory of the user's session, or null
   * @param run what is /run
   */
  static Path directory(int user, String property, String session, Path run, String... names)
      throws IOException {
    Path top = top(property, session, run, user);
    Path made = make(top, user);
    for (String name : names) {
      made = make(made.resolve(name), user);
    }
    return made;
  }

  private static Path top(String property, String session, Path run, int user) throws IOException {
    if (property != null && !property.isEmpty()) {
      return Path.of(property).toAbsolutePath();
    }
    if (session != null && session.startsWith("/")) {
      return Path.of(session, NAME);
    }
    Path own = run.resolve("user").resolve(Integer.toUnsignedString(user));
    if (Files.isDirectory(own)) {
      return own.resolve(NAME);
    }
    if (user == 0) {
      return run.resolve(NAME);
    }
    throw new IOException(
        "there is no runtime directory: neither $XDG_RUNTIME_DIR nor %s: %s"
            .formatted(own, REMEDY));
  }

  private static Path make(Path directory, int user) throws IOException {
    try {
      Files.createDirectory(directory, PosixFilePermissions.asFileAttribute(PRIVATE));
    } catch (java.nio.file.FileAlreadyExistsException e) {
      check(directory, user);
    } catch (IOException e) {
      throw new IOException(
          "cannot make %s (%s): %s".formatted(directory, e.getClass().getSimpleName(), REMEDY), e);
    }
    return directory;
  }

  private static void check(Path directory, int user) throws IOException {
    Map<String, Object> found =
        Files.readAttributes(directory, "unix:uid,mode,isDirectory", LinkOption.NOFOLLOW_LINKS);
    String wrong =
        !(boolean) found.get("isDirectory")
            ? "is no directory"
            : (int) found.get("uid") != user
                ? "belongs to user %s".formatted(Integer.toUnsignedString((int) found.get("uid")))
                : ((int) found.get("mode") & 077) != 0 ? "is open to others: chmod 700 it" : null;
    if (wrong != null) {
      throw new IOException("%s %s; or %s".formatted(directory, wrong, REMEDY));
    }
  }
}
