package org.hghca.tools.info;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.jr.ob.JSON;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.hghca.tools.CommandLineRun;
import org.hghca.tools.ConfiguredDevices;
import org.hghca.tools.FailingProvider;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.Context;
import org.hghca.verbs.DeviceFeature;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.RdmaDevices;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class InfoCommandTest {
  private static final String HCA = "model:info?mac=02:00:00:00:00:01&ip=10.0.0.1";
  private static final String FALLBACK =
      "hghca: no card found, using the embedded software HCA (model:)";

  @Test
  void standardBlockIsFirstAndTheCardFollows() {
    CommandLineRun run = CommandLineRun.of("info", "-d", HCA).assertExit(0);
    assertThat(run.err()).isEmpty();
    assertThat(run.out())
        .matches(
            Pattern.compile(
                """
                hca_id:\tmodel:info\\?ip=10.0.0.1&mac=02:00:00:00:00:01
                \ttransport:\t\t\tInfiniBand \\(0\\)
                \tnode_guid:\t\t\t0000:00ff:fe00:0001
                \tsys_image_guid:\t\t\t0000:00ff:fe00:0001
                \tvendor_id:\t\t\t0x[0-9a-f]{4}
                \tvendor_part_id:\t\t\t\\d+
                \thw_ver:\t\t\t\t0x[0-9A-F]+
                \tboard_id:\t\t\t[0-9a-f]{16}
                \tphys_port_cnt:\t\t\t1
                \t\tport:\t1
                \t\t\tstate:\t\t\tPORT_DOWN \\(1\\)
                \t\t\tmax_mtu:\t\t4096 \\(5\\)
                \t\t\tactive_mtu:\t\t4096 \\(5\\)
                \t\t\tsm_lid:\t\t\t0
                \t\t\tport_lid:\t\t0
                \t\t\tport_lmc:\t\t0x00
                \t\t\tlink_layer:\t\tEthernet

                \tcard:
                \t\tlocator:\tmodel:info\\?ip=10.0.0.1&mac=02:00:00:00:00:01
                \t\tboard:\t\t[0-9a-f]{16}
                \t\tprofile:\ts
                \t\tHCR:\t\tBAR0 \\+ 0x80000
                \t\tDEV_LIM:.*
                """
                    .stripTrailing(),
                Pattern.DOTALL));
  }

  @Test
  void cardSectionUsesNoNameOfTheStandardBlock() {
    String out = CommandLineRun.of("info", "-v", "-d", HCA).out();
    int card = out.indexOf("\tcard:\n");
    List<String> standardWords =
        out.substring(0, card)
            .lines()
            .filter(line -> line.contains(":"))
            .map(line -> line.strip().replaceFirst(":.*", ""))
            .toList();

    assertThat(standardWords).contains("hca_id", "max_qp", "max_mtu", "state", "GID[  0]");
    assertThat(out.substring(card)).doesNotContain(standardWords);
  }

  @Test
  void verboseListsTheGids() {
    assertThat(CommandLineRun.of("info", "-v", "-d", HCA).out())
        .contains("\tmax_mr_size:\t\t\t0x")
        .contains("\t\t\tGID[  0]:\t\tfe80::ff:fe00:1, RoCE v2\n")
        .contains("\t\t\tGID[  1]:\t\t::ffff:10.0.0.1, RoCE v2\n");
  }

  /** A card of the document has no IPv6 addresses: its link-local GID stands for a MAC. */
  @Test
  void gidTableShowsEveryAddressAndItsType() {
    assertThat(CommandLineRun.of("info", "-v", "-d", HCA + ",fd00::1,10.0.0.2").out())
        .contains("\t\t\tgid_tbl_len:\t\t4\n")
        .contains("\t\t\tGID[  1]:\t\t::ffff:10.0.0.1, RoCE v2\n")
        .contains("\t\t\tGID[  2]:\t\t::ffff:10.0.0.2, RoCE v2\n")
        .contains("\t\t\tGID[  3]:\t\tfd00::1, RoCE v2\n");
    assertThat(CommandLineRun.of("info", "-v", "-d", HCA + "&as=s").out())
        .contains("\t\t\tGID[  0]:\t\tfe80:0000:0000:0000:0000:00ff:fe00:0001, RoCE v1\n");
  }

  @Test
  void cardSectionShowsEveryTableInIcm() {
    assertThat(CommandLineRun.of("info", "-d", HCA).out())
        .containsPattern("\t\tICM:\t+ +entries +mapped KiB +ranges\n")
        .containsPattern("\t\t\tQPC +\\d+ +\\d+ +\\d+\n")
        .containsPattern("\t\t\tCQC +\\d+ +\\d+ +\\d+\n")
        .containsPattern("\t\t\tEQC +\\d+ +\\d+ +\\d+\n")
        .containsPattern("\t\t\tMPT +\\d+ +\\d+ +\\d+\n")
        .containsPattern("\t\t\tMTT +\\d+ +\\d+ +\\d+\n");
  }

  @Test
  void featuresAndAdviceFollowTheCard() {
    String document = CommandLineRun.of("info", "-d", HCA).out();
    assertThat(document.substring(document.indexOf("\tfeatures:\n")))
        .containsPattern("\t\tATOMICS +native\n")
        .containsPattern("\t\tRESIZE_CQ +software\n")
        .containsPattern("\t\tMEMORY_WINDOWS +missing\n")
        .contains("\tquirks:\n\tadvice:\n\t\tdestinations:\t\tany address\n");

    String rtl = CommandLineRun.of("info", "-d", "model:info-rtl?profile=r1").out();
    assertThat(rtl)
        .contains("\t\tprofile:\tr1\n\t\tHCR:\t\tBAR0 + 0x0\n")
        .containsPattern("\t\tATOMICS +missing\n")
        .containsPattern("\t\tFLUSH +software\n")
        .containsPattern("\tquirks:\n(\t\t[A-Z_]+\n)*\t\tNO_PSN_WRAP\n")
        .contains("\t\tdestinations:\t\taligned to 32 bytes")
        .contains("\t\tsends in the card:\t40 over all")
        .contains("\t\tsends of a queue pair:\t1 in the card")
        .contains("\t\tRDMA READs:\t\t896 bytes at a time")
        .contains("\t\treceive depth:\t\tall that the peer may have in flight");
  }

  @Test
  void retiredNumbersAreCounted() throws IOException {
    String name = "model:info-retired?profile=r1";
    try (Context context = RdmaDevices.open(name)) {
      assertThat(CommandLineRun.of("info", "-d", name).out())
          .contains("\t\tretired:\t0 QPNs, 0 CQNs\n\t\tlate CQEs:\t0\n\t\tended sending:\t0\n");
      try (CompletionQueue cq = context.createCompletionQueue(2);
          ProtectionDomain pd = context.allocateProtectionDomain();
          QueuePair qp = pd.createQueuePair(QueuePairConfig.ud(cq, cq))) {
        qp.activate(0x1111); // the number of received messages is unknown
      }

      assertThat(CommandLineRun.of("info", "-d", name).out())
          .contains("\t\tretired:\t1 QPNs, 0 CQNs\n");
      Map<String, Object> json = onlyDevice(CommandLineRun.of("info", "--json", "-d", name).out());
      assertThat(map(json, "card"))
          .containsEntry(
              "retired", Map.of("qpns", 1, "cqns", 0, "late_cqes", 0, "ended_sending", 0));
    }
  }

  @Test
  void countersArePrintedOnRequest() throws IOException {
    String out = CommandLineRun.of("info", "--counters", "-d", HCA).out();
    assertThat(out)
        .contains("\tsince this process opened the device, without other processes:\n")
        .containsPattern("\tcounters of the context:\n\t\tsends_posted +0\n")
        .containsPattern("\t\tcommands +[1-9]")
        .containsPattern("\tcounters of the software hca:\n\t\tcommands +[1-9]");
    assertThat(CommandLineRun.of("info", "-d", HCA).out()).doesNotContain("counters");

    String json = CommandLineRun.of("info", "--counters", "--json", "-d", HCA).out();
    assertThat(JSON.std.mapFrom(json).toString()).contains("counters={context={sends_posted=0");
  }

  @Test
  void listPrintsNamesOnly() {
    assumeTrue(RdmaDevices.list().isEmpty(), "there is a card in this machine");

    CommandLineRun run = CommandLineRun.of("info", "--list").assertExit(0);
    assertThat(run.out()).isEqualTo("1 HCA found:\n\tmodel:\n\n");
    assertThat(run.err()).isEqualTo(FALLBACK + "\n");
  }

  @Test
  void listCountsTheDevices() {
    CommandLineRun run =
        ConfiguredDevices.call("model:a,model:b", () -> CommandLineRun.of("info", "-l"));

    assertThat(run.out()).startsWith("2 HCAs found:\n\thghca0\n\thghca1\n");
    assertThat(run.err()).isEmpty();
  }

  @Test
  void allDevicesArePrintedWhenNoneIsNamed() {
    CommandLineRun run =
        ConfiguredDevices.call("model:a,model:b", () -> CommandLineRun.of("info")).assertExit(0);
    assertThat(run.out()).contains("hca_id:\thghca0\n").contains("hca_id:\thghca1\n");
  }

  @Test
  void withoutACardTheSoftwareHcaIsUsedWithANotice() {
    assumeTrue(RdmaDevices.list().isEmpty(), "there is a card in this machine");

    CommandLineRun run = CommandLineRun.of("info").assertExit(0);
    assertThat(run.err()).isEqualTo(FALLBACK + "\n");
    assertThat(run.out()).startsWith("hca_id:\tmodel:\n");
  }

  @Test
  void jsonHasTheSameKeys() throws IOException {
    CommandLineRun run = CommandLineRun.of("info", "--json", "-d", HCA).assertExit(0);
    Map<String, Object> device = onlyDevice(run.out());
    assertThat(device)
        .containsEntry("node_guid", "0000:00ff:fe00:0001")
        .containsEntry("phys_port_cnt", 1)
        .containsEntry("atomic_cap", "ATOMIC_HCA")
        .containsKeys("hca_id", "vendor_id", "board_id", "max_mr_size", "max_qp", "max_cqe");
    assertThat(map(device, "card"))
        .containsEntry("profile", "s")
        .containsEntry("hcr_base", 0x80000)
        .containsKeys("board_id");
    assertThat(map(map(device, "card"), "dev_lim"))
        .containsKeys("max_qps", "qpc_entry_sz", "max_icm_sz")
        .hasSize(31);
    assertThat((List<?>) map(device, "card").get("icm")).hasSize(5);
    assertThat(map(device, "features"))
        .containsEntry("ATOMICS", "native")
        .containsEntry("MEMORY_WINDOWS", "missing")
        .hasSize(DeviceFeature.values().length);
    assertThat((List<?>) device.get("quirks")).isEmpty();
    assertThat(map(device, "advice"))
        .containsEntry("destination_alignment", 1)
        .containsEntry("receives_ahead", false);
    assertThat((List<?>) device.get("ports"))
        .singleElement()
        .asInstanceOf(InstanceOfAssertFactories.MAP)
        .containsEntry("port", 1)
        .containsEntry("max_mtu", 4096)
        .containsEntry(
            "gids",
            List.of(
                Map.of("index", 0, "gid", "fe80::ff:fe00:1", "type", "RoCE v2"),
                Map.of("index", 1, "gid", "::ffff:10.0.0.1", "type", "RoCE v2")));
  }

  @Test
  void onlyTheRequestedPortIsPrinted() {
    CommandLineRun run = CommandLineRun.of("info", "-d", HCA, "-i", "0x1").assertExit(0);
    assertThat(run.out()).contains("\t\tport:\t1\n");
  }

  @Test
  void missingPortIsAFailure() {
    CommandLineRun run = CommandLineRun.of("info", "-d", "model:info", "-i", "2").assertExit(1);
    assertThat(run.out()).isEmpty();
    assertThat(run.err()).isEqualTo("hghca: model:info has no port 2: it has 1\n");
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "-1", "one"})
  void malformedPortIsWrongUsage(String port) {
    CommandLineRun run = CommandLineRun.of("info", "-i", port).assertExit(2);
    assertThat(run.err()).contains("'" + port + "' is not a port").contains("Usage: hghca info");
  }

  @ParameterizedTest
  @ValueSource(strings = {"mlx4_0", "nosuchscheme:0"})
  void unknownDeviceIsExitCode3(String device) {
    CommandLineRun run = CommandLineRun.of("info", "-d", device).assertExit(3);
    assertThat(run.out()).isEmpty();
    assertThat(run.err()).startsWith("hghca: ").contains(device).hasLineCount(1);
  }

  @ParameterizedTest
  @ValueSource(strings = {FailingProvider.AT_OPEN, "model:x?nosuch=1"})
  void deviceThatCannotBeOpenedIsExitCode3(String device) {
    CommandLineRun run = CommandLineRun.of("info", "-d", device).assertExit(3);
    assertThat(run.err()).startsWith("hghca: ").hasLineCount(1);
  }

  @Test
  void deviceThatCannotBeQueriedIsExitCode1() {
    CommandLineRun run = CommandLineRun.of("info", "-d", FailingProvider.AT_QUERY).assertExit(1);
    assertThat(run.err()).isEqualTo("hghca: the card is gone: EIO (5)\n");
  }

  @Test
  void deviceThatCannotBeClosedIsExitCode1() {
    CommandLineRun run = CommandLineRun.of("info", "-d", FailingProvider.AT_CLOSE).assertExit(1);
    assertThat(run.err())
        .isEqualTo("hghca: the card is gone: EIO (5)\nhghca: the card is gone: EIO (5)\n");
  }

  @Test
  void unknownOptionIsExitCode2() {
    CommandLineRun run = CommandLineRun.of("info", "--nosuch").assertExit(2);
    assertThat(run.err()).contains("--nosuch").contains("Usage: hghca info");
  }

  private static Map<String, Object> onlyDevice(String json) throws IOException {
    List<?> devices = (List<?>) JSON.std.mapFrom(json).get("devices");
    assertThat(devices).hasSize(1);
    return map(Map.of("device", devices.getFirst()), "device");
  }

  @SuppressWarnings("unchecked")
  private static Map<String, Object> map(Map<String, Object> parent, String key) {
    return (Map<String, Object>) parent.get(key);
  }
}
