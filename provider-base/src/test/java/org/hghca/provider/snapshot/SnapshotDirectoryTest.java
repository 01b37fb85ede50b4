package org.hghca.provider.snapshot;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.hghca.provider.snapshot.SnapshotDirectory.Found;
import org.hghca.provider.snapshot.SnapshotDirectory.Reading;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Snapshots of this process, of others, and of those that have died. */
@Timeout(60)
@SuppressWarnings("try") // an interrupt ends the test
class SnapshotDirectoryTest {
  @TempDir private Path folder;

  private Reading read() throws IOException {
    return new SnapshotDirectory(folder).read();
  }

  private List<String> files() throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.map(file -> file.getFileName().toString()).toList();
    }
  }

  private Path write(String name, ByteBuffer content) throws IOException {
    byte[] bytes = new byte[content.remaining()];
    content.get(bytes);
    return Files.write(folder.resolve(name + ".counters"), bytes);
  }

  private static List<String> java(Class<?> main, Path folder) {
    return List.of(
        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "-XX:TieredStopAtLevel=1",
        "-cp",
        System.getProperty("java.class.path"),
        main.getName(),
        folder.toString());
  }

  /** Another process, which publishes a sample until it is told to end. */
  static final class Publishing implements AutoCloseable {
    private final Process process;

    Publishing(Path folder) throws IOException {
      process =
          new ProcessBuilder(java(Publishing.class, folder))
              .redirectError(ProcessBuilder.Redirect.INHERIT)
              .start();
      BufferedReader out = process.inputReader();
      assertThat(out.readLine()).isEqualTo("published");
    }

    /** In the other process. */
    public static void main(String[] args) throws IOException {
      SnapshotEncoder encoder =
          new SnapshotEncoder(
              SampleSnapshots.PROGRAM, SampleSnapshots.DEVICE, SampleSnapshots.LOCATOR);
      try (SnapshotFile file =
          SnapshotFile.create(Path.of(args[0]), 4711, SampleSnapshots.encoded(encoder, 0))) {
        System.out.println("published");
        for (long i = 1; System.in.available() == 0; i++) {
          file.write(SampleSnapshots.encoded(encoder, 100_000 * i));
          LockSupport.parkNanos(50_000); // or readers would hardly find it whole
        }
      }
    }

    void kill() throws InterruptedException {
      process.destroyForcibly();
      process.waitFor();
    }

    @Override
    public void close() throws Exception {
      if (process.isAlive()) {
        try (OutputStream in = process.getOutputStream()) {
          in.write('.');
        }
      }
      assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
    }
  }

  /** Another process, which reads once and prints a line for each program. */
  static final class ReadingOnce {
    private ReadingOnce() {}

    /** In the other process. */
    public static void main(String[] args) throws IOException {
      System.out.println("reader " + ProcessHandle.current().pid());
      Reading reading = new SnapshotDirectory(Path.of(args[0])).read();
      for (Found found : reading.snapshots()) {
        assertWhole(found.snapshot());
        System.out.println(found.snapshot().device() + (found.isAlive() ? " lives" : " has ended"));
      }
      reading.complaints().forEach(System.out::println);
    }
  }

  /** What a reader prints that has a namespace of processes of its own. */
  private static List<String> readInItsOwnNamespace(Path folder) throws Exception {
    List<String> command = new ArrayList<>(List.of("unshare", "--pid", "--fork", "--mount-proc"));
    command.addAll(java(ReadingOnce.class, folder));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    List<String> printed = process.inputReader().readAllLines();
    assertThat(process.waitFor()).as(printed.toString()).isZero();
    return printed;
  }

  /** The numbers of one snapshot belong together. */
  private static void assertWhole(Snapshot snapshot) {
    long more = snapshot.time() - SampleSnapshots.TIME;
    assertThat(more % 100_000).isZero();
    assertThat(snapshot.rows(Kind.CONTEXT).findFirst().orElseThrow().value("sends_posted"))
        .isEqualTo(more + 1000);
    assertThat(snapshot.rows(Kind.PORT).findFirst().orElseThrow().value("packets_sent"))
        .isEqualTo(more + 5000);
  }

  @Test
  void filesAreForTheirUserAndGoWithTheDevice() throws IOException {
    try (SnapshotFile file = SnapshotFile.create(folder, 5, SampleSnapshots.encoded())) {
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file.path())))
          .isEqualTo("rw-------");
      assertThat(files()).hasSize(1).first().asString().matches("5-\\d+\\.counters");
      Found found = read().snapshots().getFirst();
      assertThat(found.isAlive()).isTrue();
      assertThat(found.snapshot()).isEqualTo(Snapshot.of(SampleSnapshots.encoded()));
      assertThat(read().snapshots()).as("once more").hasSize(1);
    }
    assertThat(files()).isEmpty();
  }

  @Test
  void snapshotsOfAnotherProcessAreReadWholeWhileItWrites() throws Exception {
    try (Publishing other = new Publishing(folder)) {
      long last = -1;
      int different = 0;
      while (different < 200) {
        Reading reading = read();
        assertThat(reading.complaints()).isEmpty();
        Found found = reading.snapshots().getFirst();
        assertThat(found.isAlive()).isTrue();
        assertWhole(found.snapshot());
        assertThat(found.snapshot().time()).isGreaterThanOrEqualTo(last);
        different += found.snapshot().time() == last ? 0 : 1;
        last = found.snapshot().time();
      }
    }
    assertThat(files()).isEmpty();
    assertThat(read()).isEqualTo(new Reading(List.of(), List.of()));
  }

  @Test
  void lastValuesOfAKilledProcessAreShownOnce() throws Exception {
    try (Publishing other = new Publishing(folder)) {
      other.kill();
    }
    assertThat(files()).hasSize(1);
    Reading reading = read();
    if (reading.complaints().isEmpty()) {
      assertThat(reading.snapshots().getFirst().isAlive()).isFalse();
      assertWhole(reading.snapshots().getFirst().snapshot());
    } else { // killed in the middle of a write
      assertThat(reading.complaints().getFirst())
          .matches(".*(was being written when its program died|is damaged.*)");
    }
    assertThat(files()).isEmpty();
    assertThat(read()).isEqualTo(new Reading(List.of(), List.of()));
  }

  @Test
  void readerAmongOtherProcessNumbersKnowsWhoLives() throws Exception {
    Process namespace = new ProcessBuilder("unshare", "--pid", "--fork", "true").start();
    assumeThat(namespace.waitFor()).as("a namespace can be made").isZero();
    try (Publishing other = new Publishing(folder)) {
      String device = SampleSnapshots.DEVICE;
      assertThat(readInItsOwnNamespace(folder)).containsExactly("reader 1", device + " lives");
      assertThat(files()).hasSize(1);
      other.kill();
      assertThat(readInItsOwnNamespace(folder))
          .hasSize(2)
          .last()
          .asString()
          .matches(device + " has ended|.*(was being written when its program died|is damaged.*)");
      assertThat(files()).isEmpty();
      assertThat(readInItsOwnNamespace(folder)).containsExactly("reader 1");
    }
  }

  @Test
  void deadProcessOfAnyNameIsShownOnce() throws IOException {
    write("1-2", SampleSnapshots.encoded());
    assertThat(read().snapshots()).hasSize(1).allMatch(found -> !found.isAlive());
    assertThat(files()).isEmpty();
  }

  @Test
  void whatIsNoSnapshotIsOneLineEach() throws IOException {
    ByteBuffer other = SampleSnapshots.encoded();
    other.putInt(SnapshotLayout.VERSION_AT, 2);
    Path version = write("version", other);
    Path cut = write("cut", SampleSnapshots.encoded().limit(200));
    Path empty = write("empty", ByteBuffer.allocate(0));
    Path text = write("text", ByteBuffer.wrap("# TYPE ".repeat(50).getBytes(UTF_8)));
    ByteBuffer odd = SampleSnapshots.encoded().order(ByteOrder.LITTLE_ENDIAN);
    Path writing = write("writing", odd.putLong(SnapshotLayout.SEQUENCE_AT, 3));
    Path link = Files.createSymbolicLink(folder.resolve("link.counters"), Path.of("/etc/hostname"));
    Files.writeString(folder.resolve("README"), "not looked at");
    try (SnapshotFile good = SnapshotFile.create(folder, 5, SampleSnapshots.encoded())) {
      Reading reading = read();
      assertThat(reading.snapshots()).hasSize(1);
      assertThat(reading.complaints())
          .containsExactlyInAnyOrder(
              version
                  + " has layout 2, of another version of hghca than this one, which reads layout"
                  + " 1",
              cut + " is cut short",
              empty + " is cut short",
              text + " is no snapshot of counters",
              writing + " was being written when its program died",
              link + " is no file");
      assertThat(good.path()).exists();
    }
  }

  @Test
  void snapshotOfAnotherUserIsLeftAlone() throws IOException {
    Path others = write("others", SampleSnapshots.encoded());
    assumeThat(Files.getAttribute(others, "unix:uid")).isEqualTo(0);
    Files.setAttribute(others, "unix:uid", 12345);

    assertThat(read())
        .isEqualTo(
            new Reading(List.of(), List.of(others + " belongs to user 12345, and is not read")));
    assertThat(others).exists();
  }
}
