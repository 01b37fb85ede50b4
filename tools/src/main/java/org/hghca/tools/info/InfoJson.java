package org.hghca.tools.info;

import java.util.LinkedHashMap;
import java.util.Map;
import org.hghca.driver.CardInformation;
import org.hghca.driver.PsnUse;
import org.hghca.driver.RetiredNumbers;
import org.hghca.icm.IcmUsage;
import org.hghca.tools.raw.LimitFields;
import org.hghca.verbs.DeviceAttributes;
import org.hghca.verbs.PortAttributes;

/** A device as JSON: the keys of {@code ibv_devinfo}, plain numbers, only what the device has. */
final class InfoJson {

  private InfoJson() {}

  static Map<String, Object> of(DeviceReport report) {
    DeviceAttributes device = report.attributes();
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("hca_id", report.device().name());
    json.put("locator", report.device().locator());
    json.put("transport", "InfiniBand");
    json.put("fw_ver", device.firmwareVersion());
    json.put("node_guid", DevinfoPrinter.guid(device.nodeGuid()));
    json.put("sys_image_guid", DevinfoPrinter.guid(device.systemImageGuid()));
    json.put("vendor_id", device.vendorId());
    json.put("vendor_part_id", device.vendorPartId());
    json.put("hw_ver", device.hardwareVersion());
    device.boardId().ifPresent(board -> json.put("board_id", board));
    json.put("phys_port_cnt", device.physicalPorts());
    json.put("max_mr_size", device.maxMrSize());
    json.put("page_size_cap", device.pageSizes());
    json.put("max_qp", device.maxQp());
    json.put("max_qp_wr", device.maxQpWr());
    json.put("max_sge", device.maxSge());
    json.put("max_sge_rd", device.maxSgeRead());
    json.put("max_cq", device.maxCq());
    json.put("max_cqe", device.maxCqe());
    json.put("max_mr", device.maxMr());
    json.put("max_pd", device.maxPd());
    json.put("max_qp_rd_atom", device.maxQpReadAtomic());
    json.put("max_res_rd_atom", device.maxReadAtomic());
    json.put("max_qp_init_rd_atom", device.maxQpInitiatorReadAtomic());
    json.put("atomic_cap", device.atomics() ? "ATOMIC_HCA" : "ATOMIC_NONE");
    json.put("max_mcast_grp", device.maxMulticastGroups());
    json.put("max_mcast_qp_attach", device.maxMulticastAttach());
    json.put("max_total_mcast_qp_attach", device.maxTotalMulticastAttach());
    json.put("max_srq", device.maxSrq());
    json.put("max_srq_wr", device.maxSrqWr());
    json.put("max_srq_sge", device.maxSrqSge());
    json.put("max_pkeys", device.maxPkeys());
    json.put("local_ca_ack_delay", device.localAckDelay());
    json.put("max_inline", device.maxInline());
    json.put("remote_bounds_granularity", device.remoteBoundsGranularity());
    json.put("num_comp_vectors", device.completionVectors());
    json.put("ports", report.ports().stream().map(port -> port(report, port)).toList());
    report.card().ifPresent(card -> json.put("card", card(card)));
    report.virtio().ifPresent(virtio -> json.put("virtio", VirtioPrinter.json(virtio)));
    json.put("features", FeaturePrinter.features(device));
    json.put("quirks", FeaturePrinter.quirks(device));
    json.put("advice", FeaturePrinter.advice(device));
    if (!report.counters().isEmpty()) {
      json.put("counters", report.counters());
    }
    return json;
  }

  /** A function without verbs: what it says of itself, and why it has none. */
  static Map<String, Object> of(VirtioReport report) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("locator", report.locator());
    json.put("virtio", VirtioPrinter.json(report));
    return json;
  }

  private static Map<String, Object> port(DeviceReport report, DeviceReport.Port port) {
    PortAttributes attributes = port.attributes();
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("port", port.number());
    json.put("state", attributes.state().text());
    json.put("state_assumed", attributes.stateAssumed());
    json.put("max_mtu", attributes.maxMtu().bytes());
    json.put("active_mtu", attributes.activeMtu().bytes());
    json.put("port_lid", attributes.lid());
    json.put("link_layer", "Ethernet");
    json.put("max_msg_sz", attributes.maxMessageSize());
    json.put("pkey_tbl_len", attributes.pkeyTableLength());
    json.put("gid_tbl_len", attributes.gidTableLength());
    json.put("active_width", attributes.activeWidth());
    json.put("active_speed", attributes.activeSpeed());
    json.put("mac", "%012x".formatted(attributes.mac()));
    json.put(
        "gids",
        report.gidsOf(port).stream()
            .map(
                entry -> {
                  Map<String, Object> gid = new LinkedHashMap<>();
                  gid.put("index", entry.index());
                  gid.put("gid", DevinfoPrinter.gid(entry));
                  gid.put("type", entry.type().text());
                  return gid;
                })
            .toList());
    return json;
  }

  private static Map<String, Object> card(CardInformation card) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("board_id", "%016x".formatted(card.boardId()));
    json.put("profile", card.profile());
    json.put("hcr_base", card.hcrBase());
    json.put("dev_lim", LimitFields.of(card.limits()));
    json.put("retired", retired(card.retired()));
    json.put("psns", psns(card.psns()));
    json.put("icm", card.icm().stream().map(InfoJson::icm).toList());
    return json;
  }

  private static Map<String, Object> retired(RetiredNumbers retired) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("qpns", retired.queuePairs());
    json.put("cqns", retired.completionQueues());
    json.put("late_cqes", retired.lateCompletions());
    json.put("ended_sending", retired.endedUnderTraffic());
    return json;
  }

  private static Map<String, Object> psns(PsnUse psns) {
    Map<String, Object> json = new LinkedHashMap<>();
    psns.fewestLeft().ifPresent(left -> json.put("fewest_left", left));
    json.put("carried_wraps", psns.carriedWraps());
    json.put("carrying_reads", psns.carryingReads());
    json.put("ended", psns.ended());
    return json;
  }

  private static Map<String, Object> icm(IcmUsage table) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("table", table.table().toString());
    json.put("entries", table.entries());
    json.put("mapped_bytes", table.bytes());
    json.put("ranges", table.ranges());
    return json;
  }
}
