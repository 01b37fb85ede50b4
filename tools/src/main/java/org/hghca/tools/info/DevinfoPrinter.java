package org.hghca.tools.info;

import java.io.PrintWriter;
import org.hghca.programs.Ipv6Text;
import org.hghca.verbs.DeviceAttributes;
import org.hghca.verbs.Gid;
import org.hghca.verbs.GidEntry;
import org.hghca.verbs.GidType;
import org.hghca.verbs.Mtu;
import org.hghca.verbs.PortAttributes;
import org.hghca.verbs.PortState;

/**
 * Prints a device as {@code ibv_devinfo} does, including tabs, so that programs that parse its
 * output work. Attributes that no device here has are 0.
 */
final class DevinfoPrinter {
  /** The number of InfiniBand in {@code ibv_transport_type}, which RoCE devices have, too. */
  private static final int TRANSPORT_IB = 0;

  private final PrintWriter out;
  private final boolean verbose;

  DevinfoPrinter(PrintWriter out, boolean verbose) {
    this.out = out;
    this.verbose = verbose;
  }

  void print(DeviceReport report) {
    DeviceAttributes device = report.attributes();
    out.printf("hca_id:\t%s\n", report.device().name());
    out.printf("\ttransport:\t\t\tInfiniBand (%d)\n", TRANSPORT_IB);
    if (!device.firmwareVersion().isEmpty()) {
      out.printf("\tfw_ver:\t\t\t\t%s\n", device.firmwareVersion());
    }
    out.printf("\tnode_guid:\t\t\t%s\n", guid(device.nodeGuid()));
    out.printf("\tsys_image_guid:\t\t\t%s\n", guid(device.systemImageGuid()));
    out.printf("\tvendor_id:\t\t\t0x%04x\n", device.vendorId());
    out.printf("\tvendor_part_id:\t\t\t%d\n", device.vendorPartId());
    out.printf("\thw_ver:\t\t\t\t0x%X\n", device.hardwareVersion());
    device.boardId().ifPresent(board -> out.printf("\tboard_id:\t\t\t%s\n", board));
    out.printf("\tphys_port_cnt:\t\t\t%d\n", device.physicalPorts());
    if (verbose) {
      limits(device);
      extendedCapabilities(device);
    }
    for (DeviceReport.Port port : report.ports()) {
      port(report, port);
    }
  }

  private void limits(DeviceAttributes device) {
    out.printf("\tmax_mr_size:\t\t\t0x%x\n", device.maxMrSize());
    out.printf("\tpage_size_cap:\t\t\t0x%x\n", device.pageSizes());
    out.printf("\tmax_qp:\t\t\t\t%d\n", device.maxQp());
    out.printf("\tmax_qp_wr:\t\t\t%d\n", device.maxQpWr());
    out.printf("\tdevice_cap_flags:\t\t0x%08x\n", 0);
    out.printf("\tmax_sge:\t\t\t%d\n", device.maxSge());
    out.printf("\tmax_sge_rd:\t\t\t%d\n", device.maxSgeRead());
    out.printf("\tmax_cq:\t\t\t\t%d\n", device.maxCq());
    out.printf("\tmax_cqe:\t\t\t%d\n", device.maxCqe());
    out.printf("\tmax_mr:\t\t\t\t%d\n", device.maxMr());
    out.printf("\tmax_pd:\t\t\t\t%d\n", device.maxPd());
    out.printf("\tmax_qp_rd_atom:\t\t\t%d\n", device.maxQpReadAtomic());
    out.printf("\tmax_ee_rd_atom:\t\t\t%d\n", 0);
    out.printf("\tmax_res_rd_atom:\t\t%d\n", device.maxReadAtomic());
    out.printf("\tmax_qp_init_rd_atom:\t\t%d\n", device.maxQpInitiatorReadAtomic());
    out.printf("\tmax_ee_init_rd_atom:\t\t%d\n", 0);
    out.printf("\tatomic_cap:\t\t\t%s\n", device.atomics() ? "ATOMIC_HCA (1)" : "ATOMIC_NONE (0)");
    out.printf("\tmax_ee:\t\t\t\t%d\n", 0);
    out.printf("\tmax_rdd:\t\t\t%d\n", 0);
    out.printf("\tmax_mw:\t\t\t\t%d\n", 0);
    out.printf("\tmax_raw_ipv6_qp:\t\t%d\n", 0);
    out.printf("\tmax_raw_ethy_qp:\t\t%d\n", 0);
    out.printf("\tmax_mcast_grp:\t\t\t%d\n", device.maxMulticastGroups());
    out.printf("\tmax_mcast_qp_attach:\t\t%d\n", device.maxMulticastAttach());
    out.printf("\tmax_total_mcast_qp_attach:\t%d\n", device.maxTotalMulticastAttach());
    out.printf("\tmax_ah:\t\t\t\t%d\n", 0);
    out.printf("\tmax_fmr:\t\t\t%d\n", 0);
    out.printf("\tmax_srq:\t\t\t%d\n", device.maxSrq());
    if (device.maxSrq() != 0) {
      out.printf("\tmax_srq_wr:\t\t\t%d\n", device.maxSrqWr());
      out.printf("\tmax_srq_sge:\t\t\t%d\n", device.maxSrqSge());
    }
    out.printf("\tmax_pkeys:\t\t\t%d\n", device.maxPkeys());
    out.printf("\tlocal_ca_ack_delay:\t\t%d\n", device.localAckDelay());
  }

  private void extendedCapabilities(DeviceAttributes device) {
    out.printf("\tgeneral_odp_caps:\n");
    for (String transport : new String[] {"rc", "uc", "ud", "xrc"}) {
      out.printf("\t%s_odp_caps:\n", transport);
      out.printf("\t\t\t\t\tNO SUPPORT\n");
    }
    out.printf("\tcompletion_timestamp_mask not supported\n");
    out.printf("\tcore clock not supported\n");
    out.printf("\tdevice_cap_flags_ex:\t\t0x%X\n", 0);
    out.printf("\ttso_caps:\n");
    out.printf("\tmax_tso:\t\t\t%d\n", 0);
    out.printf("\trss_caps:\n");
    out.printf("\t\tmax_rwq_indirection_tables:\t\t\t%d\n", 0);
    out.printf("\t\tmax_rwq_indirection_table_size:\t\t\t%d\n", 0);
    out.printf("\t\trx_hash_function:\t\t\t\t0x%x\n", 0);
    out.printf("\t\trx_hash_fields_mask:\t\t\t\t0x%X\n", 0);
    out.printf("\tmax_wq_type_rq:\t\t\t%d\n", 0);
    out.printf("\tpacket_pacing_caps:\n");
    out.printf("\t\tqp_rate_limit_min:\t%dkbps\n", 0);
    out.printf("\t\tqp_rate_limit_max:\t%dkbps\n", 0);
    out.printf("\ttag matching not supported\n");
    out.printf("\tnum_comp_vectors:\t\t%d\n", device.completionVectors());
  }

  private void port(DeviceReport report, DeviceReport.Port port) {
    PortAttributes attributes = port.attributes();
    PortState state = attributes.state();
    out.printf("\t\tport:\t%d\n", port.number());
    out.printf("\t\t\tstate:\t\t\t%s (%d)\n", state.text(), state.code());
    out.printf("\t\t\tmax_mtu:\t\t%s\n", mtu(attributes.maxMtu()));
    out.printf("\t\t\tactive_mtu:\t\t%s\n", mtu(attributes.activeMtu()));
    out.printf("\t\t\tsm_lid:\t\t\t%d\n", 0);
    out.printf("\t\t\tport_lid:\t\t%d\n", attributes.lid());
    out.printf("\t\t\tport_lmc:\t\t0x%02x\n", 0);
    out.printf("\t\t\tlink_layer:\t\tEthernet\n");
    if (verbose) {
      portDetails(report, port);
    }
    out.printf("\n");
  }

  private void portDetails(DeviceReport report, DeviceReport.Port port) {
    PortAttributes attributes = port.attributes();
    out.printf("\t\t\tmax_msg_sz:\t\t0x%x\n", attributes.maxMessageSize());
    out.printf("\t\t\tport_cap_flags:\t\t0x%08x\n", 0);
    out.printf("\t\t\tport_cap_flags2:\t0x%04x\n", 0);
    out.printf("\t\t\tmax_vl_num:\t\tinvalid value (%d)\n", 0);
    out.printf("\t\t\tbad_pkey_cntr:\t\t0x%x\n", 0);
    out.printf("\t\t\tqkey_viol_cntr:\t\t0x%x\n", 0);
    out.printf("\t\t\tsm_sl:\t\t\t%d\n", 0);
    out.printf("\t\t\tpkey_tbl_len:\t\t%d\n", attributes.pkeyTableLength());
    out.printf("\t\t\tgid_tbl_len:\t\t%d\n", attributes.gidTableLength());
    out.printf("\t\t\tsubnet_timeout:\t\t%d\n", 0);
    out.printf("\t\t\tinit_type_reply:\t%d\n", 0);
    PortState state = attributes.state();
    int width = attributes.activeWidth();
    out.printf("\t\t\tactive_width:\t\t%sX (%d)\n", width(width), width);
    int speed = attributes.activeSpeed();
    out.printf("\t\t\tactive_speed:\t\t%s (%d)\n", speed(speed), speed);
    out.printf(
        "\t\t\tphys_state:\t\t%s\n",
        state.compareTo(PortState.DOWN) > 0 ? "LINK_UP (5)" : "DISABLED (3)");
    for (GidEntry entry : report.gidsOf(port)) {
      out.printf("\t\t\tGID[%3d]:\t\t%s, %s\n", entry.index(), gid(entry), entry.type().text());
    }
  }

  static String guid(long guid) {
    return "%04x:%04x:%04x:%04x"
        .formatted(guid >>> 48, guid >>> 32 & 0xffff, guid >>> 16 & 0xffff, guid & 0xffff);
  }

  /** In full for RoCE v1, shortened like an IP address for RoCE v2. */
  static String gid(GidEntry entry) {
    Gid gid = entry.gid();
    return entry.type() == GidType.ROCE_V2 ? Ipv6Text.of(gid) : gid.toString();
  }

  private static String mtu(Mtu mtu) {
    return "%d (%d)".formatted(mtu.bytes(), mtu.code());
  }

  private static String width(int code) {
    return switch (code) {
      case 1 -> "1";
      case 2 -> "4";
      case 4 -> "8";
      case 8 -> "12";
      case 16 -> "2";
      default -> "invalid width";
    };
  }

  private static String speed(int code) {
    return switch (code) {
      case 1 -> "2.5 Gbps";
      case 2 -> "5.0 Gbps";
      case 4, 8 -> "10.0 Gbps";
      case 16 -> "14.0 Gbps";
      case 32 -> "25.0 Gbps";
      case 64 -> "50.0 Gbps";
      case 128 -> "100.0 Gbps";
      case 256 -> "200.0 Gbps";
      default -> "invalid speed";
    };
  }
}
