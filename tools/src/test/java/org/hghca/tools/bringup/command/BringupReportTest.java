package org.hghca.tools.bringup.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.tools.bringup.command.BringupRun.bringup;

import com.fasterxml.jackson.jr.ob.JSON;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.hghca.programs.Version;
import org.hghca.tools.CommandLineRun;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What reports say of program, machine and board, and that they are as their schema. */
@Tag("long")
class BringupReportTest {
  @TempDir private Path folder;

  private Path file(String name) {
    return folder.resolve(name);
  }

  private Map<String, Object> json() throws IOException {
    return JSON.std.mapFrom(Files.readString(file("a.json")));
  }

  private static Map<?, ?> map(Object value) {
    return (Map<?, ?>) value;
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "model:board",
        "model:board?profile=r1",
        "model:board?profile=r2&fault=payload-stuck-bit",
        "virtio:board",
        "model:board?fault=init-hangs",
        "nosuchscheme:0"
      })
  void reportsFitTheirSchema(String device) throws IOException {
    CommandLineRun run =
        bringup(
            "-d",
            device,
            "--limit=PT0.5S",
            "--repeat=2",
            "--json=" + file("a.json"),
            "--json-lines=" + file("a.jsonl"));

    ReportSchema schema = ReportSchema.read();
    schema.assertValid(Files.readString(file("a.json")));
    List<String> lines = Files.readAllLines(file("a.jsonl"));
    assertThat(lines).as(run.out()).hasSizeGreaterThan(10).allSatisfy(schema::assertValid);
    assertThat(json()).containsEntry("exit_code", run.exitCode());
    assertThat(JSON.std.mapFrom(lines.getLast()))
        .containsEntry("type", "end")
        .containsEntry("exit_code", run.exitCode());
  }

  /** Otherwise a validator that accepts anything would do. */
  @Test
  void schemaRefusesWhatIsMissingOrUnknown() throws IOException {
    assertThat(
            bringup(
                    "-d",
                    "model:board",
                    "--only=cmd.dev-lim",
                    "--json=" + file("a.json"),
                    "--json-lines=" + file("a.jsonl"))
                .exitCode())
        .isZero();
    ReportSchema schema = ReportSchema.read();
    List<String> documents = new ArrayList<>(Files.readAllLines(file("a.jsonl")));
    documents.add(Files.readString(file("a.json")));

    for (String document : documents) {
      Map<String, Object> all = JSON.std.mapFrom(document);
      assertThat(schema.errors(JSON.std.asString(all))).isEmpty();
      Map<String, Object> more = new LinkedHashMap<>(all);
      more.put("unheard_of", 1);
      assertThat(schema.errors(JSON.std.asString(more))).isNotEmpty();
      if (!"board".equals(all.get("type"))) {
        for (String key : all.keySet()) {
          Map<String, Object> less = new LinkedHashMap<>(all);
          less.remove(key);
          assertThat(schema.errors(JSON.std.asString(less)))
              .as("%s without %s", all.get("type"), key)
              .matches(
                  errors ->
                      errors.isEmpty()
                          == List.of("reason", "look_at", "commands", "comparisons").contains(key));
        }
      }
    }
  }

  @Test
  void everyReportSaysWhatItIsAbout() throws IOException {
    bringup(
            "-d",
            "model:board",
            "--only=cmd.dev-lim,pci.capabilities",
            "--json=" + file("a.json"),
            "--html=" + file("a.html"),
            "--junit=" + file("a.xml"))
        .assertExit(0);
    Map<String, Object> json = json();
    assertThat(json.get("command_line"))
        .asString()
        .startsWith(
            "hghca bringup --seconds 0.01 -d model:board --only=cmd.dev-lim,pci.capabilities");
    assertThat(map(json.get("hghca")).get("version")).isEqualTo(Version.hghca());
    assertThat(map(json.get("machine")).get("kernel"))
        .isEqualTo(System.getProperty("os.name") + " " + System.getProperty("os.version"));
    Map<?, ?> board = map(json.get("board"));
    assertThat(board.get("iommu")).isEqualTo("software");
    assertThat(board.get("vendor_id").toString()).hasSize(4);
    assertThat(map(board.get("link")).get("lanes")).isInstanceOf(Integer.class);
    assertThat(board.get("profile")).isEqualTo("s");
    assertThat(map(board.get("limits")).get("max_qps")).isEqualTo(16_384);
    for (String name : List.of("a.html", "a.xml")) {
      assertThat(file(name))
          .content()
          .contains(Version.hghca())
          .contains(json.get("command_line").toString())
          .contains(map(json.get("machine")).get("JVM").toString())
          .contains("recognized by probe")
          .containsPattern("limits\\.max_qps[^0-9]*16384\\b");
    }
  }

  @ParameterizedTest
  @CsvSource({
    "model:board, auto, recognized by probe",
    "model:board?profile=r1, r1, given by --profile",
    "model:board?profile=r1&as=r1, auto, given by as=",
    "'model:board?profile=r2&as=r2&assumeProfile=true', auto, 'given by as= with"
        + " assumeProfile=true, not probed'"
  })
  void reportSaysHowTheProfileWasFound(String device, String profile, String found)
      throws IOException {
    bringup("-d", device, "--profile=" + profile, "--only=profile", "--json=" + file("a.json"))
        .assertExit(0);
    assertThat(map(json().get("board")).get("profile_found")).isEqualTo(found);
  }

  @Test
  void virtioDeviceHasIdsLinkAndLimits() throws IOException {
    bringup("-d", "virtio:board", "--only=roce.limits", "--json=" + file("a.json")).assertExit(0);
    Map<?, ?> board = map(json().get("board"));
    assertThat(board.get("vendor_id")).isEqualTo("1af4");
    assertThat(board.get("profile_found")).isEqualTo("recognized by its PCI ids");
    assertThat(map(board.get("limits")).get("max_cqe")).isInstanceOf(Integer.class);
  }

  @Test
  void linesSayTheSameAsTheWholeReport() throws IOException {
    bringup(
            "-d",
            "model:board",
            "--only=hca.init",
            "--json=" + file("a.json"),
            "--json-lines=" + file("a.jsonl"))
        .assertExit(0);
    List<Map<String, Object>> lines = new ArrayList<>();
    for (String line : Files.readAllLines(file("a.jsonl"))) {
      lines.add(JSON.std.mapFrom(line));
    }
    List<?> steps = (List<?>) json().get("steps");
    assertThat(lines.getFirst().get("steps"))
        .isEqualTo(steps.stream().map(step -> map(step).get("id")).toList());
    assertThat(lines)
        .filteredOn(line -> line.get("type").equals("step"))
        .extracting(line -> line.get("verdict") + " " + line.get("milliseconds"))
        .isEqualTo(
            steps.stream()
                .map(step -> map(step).get("verdict") + " " + map(step).get("milliseconds"))
                .toList());
    Map<Object, Object> board = new LinkedHashMap<>();
    lines.stream().filter(line -> line.get("type").equals("board")).forEach(board::putAll);
    board.remove("type");
    assertThat(board).isEqualTo(json().get("board"));
  }

  @Test
  void linesGoToStandardOutputAlone() throws IOException {
    CommandLineRun run = bringup("-d", "model:board", "--only=open", "--json-lines=-");

    List<String> lines = run.out().lines().toList();
    assertThat(JSON.std.mapFrom(lines.getFirst())).containsEntry("type", "start");
    assertThat(JSON.std.mapFrom(lines.getLast())).containsEntry("outcome", "PASSED");
    assertThat(bringup("-d", "model:board", "--json-lines=-", "--json=-").exitCode()).isEqualTo(2);
  }

  /** Nothing is wider than its column: long words break, tables scroll. */
  @Test
  void pageFitsNarrowWindows() throws IOException {
    bringup("-d", "faulty:wrong-limits", "--html=" + file("a.html"));

    String page = Files.readString(file("a.html"));
    assertThat(page)
        .contains("width=device-width")
        .contains("prefers-color-scheme: dark")
        .contains("@media (max-width:");
    Matcher tables = Pattern.compile("(<div class=\"scroll\">)?<table").matcher(page);
    int count = 0;
    while (tables.find()) {
      count++;
      assertThat(tables.group(1)).as("table %d", count).isNotNull();
    }
    assertThat(count).isPositive();
  }
}
