package org.hghca.cm;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.channels.DatagramChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.hghca.cm.device.DeviceCarriers;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * After each test of the module, with its own cleaning up: no device is in use by connections, no
 * thread of the library runs, virtual ones included, and no socket and no memory of a device is
 * open. Registered for all tests by {@code META-INF/services}.
 */
public final class NothingLeft implements AfterEachCallback {
  /** Threads and sockets may end a moment after the close that ends them. */
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  private static final long PAUSE = TimeUnit.MILLISECONDS.toNanos(5);
  private static final Path DESCRIPTORS = Path.of("/proc/self/fd");

  /** The number and the name, the first words of a thread in a dump. */
  private static final Pattern THREAD =
      Pattern.compile("^#\\d+ \"hghca[^\"]*\"", Pattern.MULTILINE);

  /**
   * What there may be: the Java VM keeps a socket of its own, and so may whoever runs the tests. A
   * test's leak joins it, so that only that test fails.
   */
  private static final Set<String> KNOWN = new HashSet<>(before());

  private static List<String> before() {
    try {
      DatagramChannel.open().close();
      return descriptors();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void afterEach(ExtensionContext context) {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    List<String> left = left();
    while (!left.isEmpty() && System.nanoTime() < deadline) {
      LockSupport.parkNanos(PAUSE);
      left = left();
    }
    KNOWN.addAll(left);
    assertThat(left).as("left by the test").isEmpty();
  }

  /** What is there that must not be, in words. */
  static List<String> left() {
    List<String> left = new ArrayList<>();
    if (DeviceCarriers.count() > 0) {
      left.add("users of %d devices".formatted(DeviceCarriers.count()));
    }
    left.addAll(descriptors());
    left.addAll(threads());
    left.removeAll(KNOWN);
    return left;
  }

  /** Sockets, and memory that is shared with devices. */
  private static List<String> descriptors() {
    List<String> found = new ArrayList<>();
    try (DirectoryStream<Path> all = Files.newDirectoryStream(DESCRIPTORS)) {
      for (Path one : all) {
        target(one)
            .filter(target -> target.startsWith("socket:") || target.startsWith("/memfd:"))
            .forEach(found::add);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return found;
  }

  /** Empty for a descriptor that is closed meanwhile. */
  private static Stream<String> target(Path descriptor) {
    try {
      return Stream.of(Files.readSymbolicLink(descriptor).toString());
    } catch (IOException _) {
      return Stream.empty();
    }
  }

  /** Threads of the library: only a dump tells of virtual ones. */
  private static List<String> threads() {
    Path file = Path.of(System.getProperty("java.io.tmpdir"), "threads-" + UUID.randomUUID());
    try {
      ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
          .dumpThreads(file.toString(), HotSpotDiagnosticMXBean.ThreadDumpFormat.TEXT_PLAIN);
      return THREAD.matcher(Files.readString(file)).results().map(MatchResult::group).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      var _ = file.toFile().delete();
    }
  }
}
