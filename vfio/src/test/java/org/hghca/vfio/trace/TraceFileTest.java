package org.hghca.vfio.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TraceFileTest {
  private static final TraceKind KIND =
      TraceKind.control(
          "kind", r -> TraceText.of("track", "a \"b\" \\ \n").with("first", r.first()));

  @TempDir Path folder;

  @Test
  void numbersAndTextOfAKindAreInBothForms() throws IOException {
    Path json = folder.resolve("t.json");
    TraceFile file = TraceFile.open(json.toString());
    DeviceTrace trace = TraceFile.device(json.toString(), "fake:card").orElseThrow();
    trace.record(KIND, 7, 0, 0, 0);
    trace.span(KIND, System.nanoTime(), 8, 0, 0, 0);
    assertThat(file.write()).isEqualTo("2 events");

    assertThat(Files.readString(json))
        .startsWith("{\"displayTimeUnit\":\"ns\",")
        .endsWith("\n]}\n")
        .contains(
            "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":1,\"tid\":0,"
                + "\"args\":{\"name\":\"fake:card\"}}")
        .contains("\"args\":{\"name\":\"track\"}")
        .containsPattern(
            "\\{\"name\":\"a \\\\\"b\\\\\" \\\\\\\\ \\\\u000a\",\"ph\":\"i\",\"pid\":1,\"tid\":1,"
                + "\"cat\":\"kind\",\"ts\":\\d+\\.\\d{3},\"s\":\"t\",\"args\":\\{\"first\":7}}")
        .containsPattern("\"ph\":\"X\".*\"ts\":\\d+\\.\\d{3},\"dur\":\\d+\\.\\d{3},.*\"first\":8");
  }

  @Test
  void fileThatCannotBeWrittenIsRefusedAtOnce() {
    assertThatThrownBy(() -> TraceFile.open(folder.resolve("no/where.json").toString()))
        .isInstanceOf(UncheckedIOException.class)
        .hasMessageEndingWith(
            "/no/where.json cannot be written: there is no folder " + folder + "/no");
    assertThatThrownBy(() -> TraceFile.open(folder.toString()))
        .hasMessage("the trace %s cannot be written: Is a directory", folder);
    assertThatThrownBy(() -> TraceFile.open(""))
        .hasMessage("the trace '' is not the name of a file");
  }

  @Test
  void fullDiskIsNamed() {
    TraceFile file = TraceFile.open("/dev/full");
    assertThatThrownBy(file::write)
        .isInstanceOf(UncheckedIOException.class)
        .hasMessage("the trace /dev/full cannot be written: No space left on device");
    file.close();
  }
}
