package org.hghca.tools.info;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.hghca.verbs.DeviceAdvice;
import org.hghca.verbs.DeviceAttributes;
import org.hghca.verbs.DeviceFeature;
import org.hghca.verbs.FeatureSupport;
import org.hghca.verbs.Gid;
import org.hghca.verbs.GidEntry;
import org.hghca.verbs.GidType;
import org.hghca.verbs.Mtu;
import org.hghca.verbs.PortAttributes;
import org.hghca.verbs.PortState;
import org.hghca.verbs.RdmaDevice;
import org.junit.jupiter.api.Test;

class DevinfoPrinterTest {
  private static final String DEVICE =
      """
      hca_id:\thghca0
      \ttransport:\t\t\tInfiniBand (0)
      \tfw_ver:\t\t\t\t1.2.3
      \tnode_guid:\t\t\t0000:00ff:fe00:0001
      \tsys_image_guid:\t\t\tfedc:ba98:7654:3210
      \tvendor_id:\t\t\t0x02c9
      \tvendor_part_id:\t\t\t4099
      \thw_ver:\t\t\t\t0xAB
      \tboard_id:\t\t\tHG_0000001
      \tphys_port_cnt:\t\t\t1
      """;

  private static final String LIMITS =
      """
      \tmax_mr_size:\t\t\t0xffffffffffffffff
      \tpage_size_cap:\t\t\t0x1000
      \tmax_qp:\t\t\t\t11
      \tmax_qp_wr:\t\t\t12
      \tdevice_cap_flags:\t\t0x00000000
      \tmax_sge:\t\t\t13
      \tmax_sge_rd:\t\t\t14
      \tmax_cq:\t\t\t\t15
      \tmax_cqe:\t\t\t16
      \tmax_mr:\t\t\t\t17
      \tmax_pd:\t\t\t\t18
      \tmax_qp_rd_atom:\t\t\t19
      \tmax_ee_rd_atom:\t\t\t0
      \tmax_res_rd_atom:\t\t20
      \tmax_qp_init_rd_atom:\t\t21
      \tmax_ee_init_rd_atom:\t\t0
      \tatomic_cap:\t\t\tATOMIC_HCA (1)
      \tmax_ee:\t\t\t\t0
      \tmax_rdd:\t\t\t0
      \tmax_mw:\t\t\t\t0
      \tmax_raw_ipv6_qp:\t\t0
      \tmax_raw_ethy_qp:\t\t0
      \tmax_mcast_grp:\t\t\t29
      \tmax_mcast_qp_attach:\t\t30
      \tmax_total_mcast_qp_attach:\t31
      \tmax_ah:\t\t\t\t0
      \tmax_fmr:\t\t\t0
      \tmax_srq:\t\t\t22
      \tmax_srq_wr:\t\t\t23
      \tmax_srq_sge:\t\t\t24
      \tmax_pkeys:\t\t\t25
      \tlocal_ca_ack_delay:\t\t26
      \tgeneral_odp_caps:
      \trc_odp_caps:
      \t\t\t\t\tNO SUPPORT
      \tuc_odp_caps:
      \t\t\t\t\tNO SUPPORT
      \tud_odp_caps:
      \t\t\t\t\tNO SUPPORT
      \txrc_odp_caps:
      \t\t\t\t\tNO SUPPORT
      \tcompletion_timestamp_mask not supported
      \tcore clock not supported
      \tdevice_cap_flags_ex:\t\t0x0
      \ttso_caps:
      \tmax_tso:\t\t\t0
      \trss_caps:
      \t\tmax_rwq_indirection_tables:\t\t\t0
      \t\tmax_rwq_indirection_table_size:\t\t\t0
      \t\trx_hash_function:\t\t\t\t0x0
      \t\trx_hash_fields_mask:\t\t\t\t0x0
      \tmax_wq_type_rq:\t\t\t0
      \tpacket_pacing_caps:
      \t\tqp_rate_limit_min:\t0kbps
      \t\tqp_rate_limit_max:\t0kbps
      \ttag matching not supported
      \tnum_comp_vectors:\t\t1
      """;

  private static final String PORT =
      """
      \t\tport:\t1
      \t\t\tstate:\t\t\tPORT_ACTIVE (4)
      \t\t\tmax_mtu:\t\t4096 (5)
      \t\t\tactive_mtu:\t\t1024 (3)
      \t\t\tsm_lid:\t\t\t0
      \t\t\tport_lid:\t\t0
      \t\t\tport_lmc:\t\t0x00
      \t\t\tlink_layer:\t\tEthernet
      """;

  private static final String PORT_DETAILS =
      """
      \t\t\tmax_msg_sz:\t\t0x80000000
      \t\t\tport_cap_flags:\t\t0x00000000
      \t\t\tport_cap_flags2:\t0x0000
      \t\t\tmax_vl_num:\t\tinvalid value (0)
      \t\t\tbad_pkey_cntr:\t\t0x0
      \t\t\tqkey_viol_cntr:\t\t0x0
      \t\t\tsm_sl:\t\t\t0
      \t\t\tpkey_tbl_len:\t\t1
      \t\t\tgid_tbl_len:\t\t3
      \t\t\tsubnet_timeout:\t\t0
      \t\t\tinit_type_reply:\t0
      \t\t\tactive_width:\t\t4X (2)
      \t\t\tactive_speed:\t\t25.0 Gbps (32)
      \t\t\tphys_state:\t\tLINK_UP (5)
      \t\t\tGID[  0]:\t\tfe80:0000:0000:0000:0000:00ff:fe00:0001, RoCE v1
      \t\t\tGID[  2]:\t\t::ffff:10.0.0.1, RoCE v2
      """;

  @Test
  void outputIsThatOfIbvDevinfo() {
    assertThat(print(report("1.2.3", "HG_0000001", PortState.ACTIVE), false))
        .isEqualTo(DEVICE + PORT + "\n");
  }

  @Test
  void verboseAddsAllAttributesInTheOrderOfIbvDevinfo() {
    assertThat(print(report("1.2.3", "HG_0000001", PortState.ACTIVE), true))
        .isEqualTo(DEVICE + LIMITS + PORT + PORT_DETAILS + "\n");
  }

  @Test
  void unknownFirmwareAndBoardAreOmitted() {
    assertThat(print(report("", null, PortState.ACTIVE), false))
        .doesNotContain("fw_ver")
        .doesNotContain("board_id")
        .contains("\tphys_port_cnt:\t\t\t1\n");
  }

  @Test
  void portThatIsDownIsPhysicallyDisabled() {
    assertThat(print(report("", null, PortState.DOWN), true))
        .contains("\t\t\tstate:\t\t\tPORT_DOWN (1)\n")
        .contains("\t\t\tphys_state:\t\tDISABLED (3)\n");
  }

  private static String print(DeviceReport report, boolean verbose) {
    StringWriter text = new StringWriter();
    new DevinfoPrinter(new PrintWriter(text), verbose).print(report);
    return text.toString();
  }

  /** Each support of the three in turn. */
  private static Map<DeviceFeature, FeatureSupport> features() {
    Map<DeviceFeature, FeatureSupport> features = new EnumMap<>(DeviceFeature.class);
    for (DeviceFeature feature : DeviceFeature.values()) {
      features.put(feature, FeatureSupport.values()[feature.ordinal() % 3]);
    }
    return features;
  }

  private static DeviceReport report(String firmware, String board, PortState state) {
    DeviceAttributes attributes =
        DeviceAttributes.builder()
            .firmwareVersion(firmware)
            .nodeGuid(0x0000_00ff_fe00_0001L)
            .systemImageGuid(0xfedc_ba98_7654_3210L)
            .vendorId(0x02c9)
            .vendorPartId(4099)
            .hardwareVersion(0xab)
            .boardId(board)
            .physicalPorts(1)
            .maxMrSize(-1)
            .pageSizes(4096)
            .maxQp(11)
            .maxQpWr(12)
            .maxSge(13)
            .maxSgeRead(14)
            .maxCq(15)
            .maxCqe(16)
            .maxMr(17)
            .maxPd(18)
            .maxQpReadAtomic(19)
            .maxReadAtomic(20)
            .maxQpInitiatorReadAtomic(21)
            .atomics(true)
            .maxSrq(22)
            .maxSrqWr(23)
            .maxSrqSge(24)
            .maxMulticastGroups(29)
            .maxMulticastAttach(30)
            .maxTotalMulticastAttach(31)
            .maxPkeys(25)
            .localAckDelay(26)
            .maxInline(27)
            .remoteBoundsGranularity(1)
            .completionVectors(1)
            .features(features())
            .advice(new DeviceAdvice(32, 63, 1, 1024, true, 2))
            .build();
    PortAttributes port =
        new PortAttributes(
            state, false, Mtu.MTU_4096, Mtu.MTU_1024, 3, 1, 1L << 31, 0, 2, 32, 0x0200_0000_0001L);
    return new DeviceReport(
        new RdmaDevice("hghca0", "pci:0000:03:00.0", 1),
        attributes,
        List.of(new DeviceReport.Port(1, port)),
        List.of(
            new GidEntry(Gid.ofMac(0x0200_0000_0001L), 1, 0, GidType.ROCE_V1),
            new GidEntry(Gid.NONE, 1, 1, GidType.ROCE_V2),
            new GidEntry(Gid.ofIpv4(0x0a00_0001), 1, 2, GidType.ROCE_V2)),
        Optional.empty(),
        Optional.empty(),
        Map.of());
  }
}
