package org.hghca.tools.info;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.jr.ob.JSON;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.hghca.programs.ExitCode;
import org.hghca.tools.CommandLineRun;
import org.junit.jupiter.api.Test;

/** What {@code hghca info} says of virtio network devices, with RoCE and without. */
class InfoVirtioTest {
  private static final String HCA = "virtio:info?mac=02:00:00:00:00:21&mtu=4188&hub=info";
  private static final String CARD = "virtio:card?mac=02:00:00:00:00:22&roce=none";

  @Test
  void sectionOfTheDeviceStandsWhereThatOfTheCardIs() {
    CommandLineRun run = CommandLineRun.of("info", "-d", HCA).assertExit(0);
    assertThat(run.err()).isEmpty();
    assertThat(run.out())
        .matches(
            Pattern.compile(
                """
                hca_id:\tvirtio:info\\?.*
                \t\t\tactive_mtu:\t\t4096 \\(5\\)
                .*
                \tvirtio:
                \t\tlocator:\tvirtio:info\\?hub=info&mac=02:00:00:00:00:21&mtu=4188
                \t\tids:\t\t1af4:1041, revision 1
                \t\tcommon configuration:   BAR0 \\+ 0x0, 60 bytes
                .*
                \t\tvectors:\t36
                \t\tdevice status:\t0x0f \\(ACKNOWLEDGE\\|DRIVER\\|DRIVER_OK\\|FEATURES_OK\\)
                \t\tfeature bits:
                \t\t\t 3 VIRTIO_NET_F_MTU                negotiated
                .*
                \t\t\t18 VIRTIO_NET_F_CTRL_RX            offered
                .*
                \t\t\t55 VIRTIO_NET_F_ROCE               negotiated
                \t\tqueues:
                \t\t\t0 to 1: 256 entries
                \t\t\t2: 64 entries
                \t\t\t3 to 34: 4096 entries
                \t\t\t35 to 290: 1024 entries
                \t\tMAC:\t\t020000000021
                \t\tIP MTU:\t\t4188
                \t\tlink:\t\tup
                \t\tRoCE:\t\trfc-v2, feature bit 55
                \t\t\tcontrol queue: 2
                \t\t\t32 completion queues: 3 on
                \t\t\t128 queue pairs, two queues each: 35 on
                \t\t\t16 GIDs, messages of up to 0x80000000 bytes, \\d+ commands given

                \tfeatures:
                .*
                """
                    .stripTrailing(),
                Pattern.DOTALL));
  }

  @Test
  void sectionUsesNoNameOfTheStandardBlock() {
    String out = CommandLineRun.of("info", "-v", "-d", HCA).out();
    int section = out.indexOf("\tvirtio:\n");
    List<String> standardWords =
        out.substring(0, section)
            .lines()
            .filter(line -> line.contains(":"))
            .map(line -> line.strip().replaceFirst(":.*", "") + ":")
            .toList();

    assertThat(standardWords).contains("hca_id:", "max_qp:", "max_mtu:", "state:");
    assertThat(out.substring(section)).doesNotContain(standardWords);
  }

  @Test
  void functionWithoutRoceSaysWhatItOffersAndWhyItHasNoVerbs() {
    CommandLineRun run = CommandLineRun.of("info", "-d", CARD);

    String refusal =
        "is a network device without RoCE (rfc-v2): it does not offer feature 55; it offers"
            + " features 0x10330870028: EOPNOTSUPP (95)";
    assertThat(run.exitCode()).isEqualTo(ExitCode.NOT_OPENED.code());
    assertThat(run.err()).startsWith("hghca: virtio:card?").contains(refusal);
    assertThat(run.out())
        .startsWith("function:\tvirtio:card?mac=02:00:00:00:00:22&roce=none\n\tvirtio:\n")
        .contains("\t\tdevice status:\t0x03 (ACKNOWLEDGE|DRIVER)\n")
        .contains("\t\t\t17 VIRTIO_NET_F_CTRL_VQ            offered\n")
        .contains("\t\tqueues:\n\t\t\t0 to 1: 256 entries\n\t\t\t2: 64 entries\n")
        .contains("\t\tMAC:\t\t020000000022\n\t\tIP MTU:\t\t1500\n\t\tlink:\t\tdown\n")
        .containsPattern("\t\tverbs:\t\tnone: virtio:card\\?.*" + Pattern.quote(refusal))
        .doesNotContain("hca_id", "ROCE", "negotiated");
  }

  @Test
  void functionThatCannotBeOpenedHasNoSection() {
    CommandLineRun run =
        CommandLineRun.of("info", "-d", "virtio:x?roce=5").assertExit(ExitCode.NOT_OPENED.code());
    assertThat(run.out()).isEmpty();
  }

  @Test
  void jsonHasTheSame() throws IOException {
    Map<?, ?> with = virtio(CommandLineRun.of("info", "--json", "-d", HCA));
    assertThat(with.get("vendor_id")).isEqualTo(0x1af4);
    assertThat(with.get("device_id")).isEqualTo(0x1041);
    assertThat(with.get("mac")).isEqualTo("020000000021");
    assertThat(with.get("link")).isEqualTo("up");
    assertThat((Map<?, ?>) with.get("features"))
        .extracting("VIRTIO_NET_F_ROCE", "VIRTIO_NET_F_CTRL_RX")
        .containsExactly("negotiated", "offered");
    assertThat((Map<?, ?>) with.get("roce"))
        .extracting("dialect", "completion_queues", "queue_pairs", "first_send_queue")
        .containsExactly("rfc-v2", 32, 128, 35);
    assertThat((List<?>) with.get("queues"))
        .element(2)
        .extracting("first", "last", "entries")
        .containsExactly(3, 34, 4096);

    Map<?, ?> without = virtio(CommandLineRun.of("info", "--json", "-d", CARD));
    assertThat(without.containsKey("roce")).isFalse();
    assertThat(without.get("verbs_refused").toString()).contains("does not offer feature 55");
    assertThat((List<?>) without.get("structures")).hasSize(4);
  }

  private static Map<?, ?> virtio(CommandLineRun run) throws IOException {
    List<?> devices = (List<?>) JSON.std.mapFrom(run.out()).get("devices");
    assertThat(devices).hasSize(1);
    return (Map<?, ?>) ((Map<?, ?>) devices.getFirst()).get("virtio");
  }
}
