package org.hghca.programs.perf.session;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.hghca.programs.perf.Parameters;
import org.hghca.programs.perf.result.BandwidthReport;
import org.hghca.programs.perf.result.DurationLatency;
import org.hghca.programs.perf.result.Figure;
import org.hghca.programs.perf.result.LatencyResult;
import org.hghca.programs.perf.result.Percentiles;
import org.hghca.programs.perf.run.Resources;
import org.hghca.verbs.Mtu;

/**
 * A run as JSON: {@code test_info} and {@code results} with perftest's names. The results of all
 * sizes are a list; a latency has {@code percentiles_usec} besides. Not thread-safe.
 */
public final class PerfDocument {
  private final Map<String, Object> info = new LinkedHashMap<>();
  private final List<Map<String, Object>> results = new ArrayList<>();
  private boolean many;

  PerfDocument() {}

  /** Maps, lists, texts and numbers. */
  public Map<String, Object> toJson() {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("test_info", info);
    json.put("results", many || results.size() != 1 ? results : results.getFirst());
    return json;
  }

  void info(Parameters parameters, Resources resources, boolean client, Mtu mtu) {
    many = parameters.amount().all();
    info.put("test", parameters.title().replace(' ', '_'));
    if (parameters.route().multicast().isPresent()) {
      info.put("MultiCast_runs", "on_UD");
    }
    info.put("Dual_port", "OFF");
    info.put("Device", resources.device().name());
    info.put("Number_of_qps", parameters.queues().pairs());
    info.put("Transport_type", "IB");
    info.put("Connection_type", parameters.type().name());
    info.put("Using_SRQ", "OFF");
    info.put("PCIe_relax_order", "OFF");
    info.put("ibv_wr_API", "OFF");
    Setting.of(parameters, resources, client, mtu)
        .forEach(each -> info.put(each.key(), each.value()));
    info.put("rdma_cm_QPs", Header.connects(parameters.route().meeting()));
    info.put("Data_ex_method", Header.talks(parameters.route().meeting()));
  }

  void add(Figure figure) {
    Map<String, Object> row = new LinkedHashMap<>();
    row.put("MsgSize", figure.size());
    row.put("n_iterations", figure.iterations());
    switch (figure) {
      case BandwidthReport report -> {
        row.put("BW_peak", report.peak());
        row.put("BW_average", report.average());
        row.put("MsgRate", report.messageRate());
      }
      case LatencyResult result -> {
        row.put("t_min", result.min());
        row.put("t_max", result.max());
        row.put("t_typical", result.typical());
        row.put("t_avg", result.average());
        row.put("t_stdev", result.deviation());
        row.put("percentile_99", result.p99());
        row.put("percentile_99.9", result.p999());
        row.put("percentiles_usec", Percentiles.of(result.samples()).toJson());
      }
      case DurationLatency result -> {
        row.put("t_avg", result.average());
        row.put("tps_average", result.perSecond());
      }
    }
    results.add(row);
  }
}
