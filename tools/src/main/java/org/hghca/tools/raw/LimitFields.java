package org.hghca.tools.raw;

import java.util.LinkedHashMap;
import java.util.Map;
import org.hghca.abi.DeviceLimits;

/** The fields of tables 3-2-3 and 3-2-4 under their names there, logarithms resolved. */
public final class LimitFields {
  private LimitFields() {}

  /** In the order of the tables. */
  public static Map<String, Object> of(DeviceLimits limits) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("reserved_qp", limits.reservedQps());
    fields.put("reserved_cq", limits.reservedCqs());
    fields.put("reserved_eq", limits.reservedEqs());
    fields.put("reserved_mtt", limits.reservedMtts());
    fields.put("reserved_pd", limits.reservedPds());
    fields.put("reserved_lkey", limits.reservedLkeys());
    fields.put("max_qp_sz", limits.maxQpSize());
    fields.put("max_cq_sz", limits.maxCqSize());
    fields.put("max_qps", limits.maxQps());
    fields.put("max_cqs", limits.maxCqs());
    fields.put("max_eqs", limits.maxEqs());
    fields.put("max_mpts", limits.maxMpts());
    fields.put("max_pds", limits.maxPds());
    fields.put("max_gids", limits.maxGids());
    fields.put("max_pkeys", limits.maxPkeys());
    fields.put("max_mtt_seg", limits.mttEntrySize());
    fields.put("qpc_entry_sz", limits.qpcEntrySize());
    fields.put("cqc_entry_sz", limits.cqcEntrySize());
    fields.put("eqc_entry_sz", limits.eqcEntrySize());
    fields.put("mpt_entry_sz", limits.mptEntrySize());
    fields.put("ack_delay", limits.ackDelay());
    fields.put("max_mtu", limits.maxMtu());
    fields.put("max_port_width", limits.maxPortWidth());
    fields.put("max_vl", limits.maxVl());
    fields.put("num_ports", limits.ports());
    fields.put("min_page_sz", limits.minPageSize());
    fields.put("max_sg", limits.maxSg());
    fields.put("max_desc_sz", limits.maxDescSize());
    fields.put("max_sg_rq", limits.maxSgRq());
    fields.put("max_desc_sz_rq", limits.maxDescSizeRq());
    fields.put("max_icm_sz", limits.maxIcmSize());
    return fields;
  }
}
