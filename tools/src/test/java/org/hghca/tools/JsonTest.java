package org.hghca.tools;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.jr.ob.JSON;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * {@code --json} of the commands: one document, or one in a line, with the version of its schema.
 */
class JsonTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "list --devices=model:json",
        "info -d model:json",
        "info -v -d model:json",
        "info --system",
        "model faults",
        "demo --seconds=0 -d model:json",
      })
  void documentHasTheVersionOfItsSchema(String line) throws IOException {
    CommandLineRun run = CommandLineRun.of((line + " --json").split(" "));

    assertThat(JSON.std.mapFrom(run.out())).containsEntry("schema_version", 1);
    assertThat(run.out()).startsWith("{\n  \"schema_version\" : 1,");
  }

  @Test
  void listNamesDevicesByLocator() throws IOException {
    CommandLineRun run = CommandLineRun.of("list", "--json", "--devices=model:json").assertExit(0);

    var devices = (List<?>) JSON.std.mapFrom(run.out()).get("devices");
    Map<?, ?> first = (Map<?, ?>) devices.getFirst();
    assertThat(first.get("name")).isEqualTo("hghca0");
    assertThat(first.get("locator")).isEqualTo("model:json");
  }

  @Test
  void reportsOfBringupAreCompared(@TempDir Path folder) throws IOException {
    String file = folder.resolve("report.json").toString();
    CommandLineRun.of(
            "bringup", "-d", "model:json", "--only", "rc.write", "--seconds=0", "--json", file)
        .assertExit(0);
    CommandLineRun run =
        CommandLineRun.of("bringup", "compare", "--json", file, file).assertExit(0);

    assertThat(JSON.std.mapFrom(run.out()))
        .containsEntry("schema_version", 1)
        .containsEntry("differences", List.of());
  }
}
