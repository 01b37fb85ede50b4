package org.hghca.programs.perf.command;

import java.util.List;
import org.hghca.programs.UnsupportedOptions;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** The options of perftest that do not exist here, with the reasons. */
final class PerfRefusals {
  private static final String GPU = "the memory of messages is that of the process";
  private static final String RAW = "the device has no raw Ethernet queue pairs";
  private static final String CRYPTO = "the device does not encrypt";
  private static final String DC = "the device has no DC queue pairs";

  private static final List<Refusal> ALL =
      List.of(
          flag("a server begins when its client has come", "--connectionless"),
          flag("the device has one port", "-O", "--dualport"),
          flag("the device has one port", "--report-per-port"),
          flag("each queue pair has its own receive queue", "--use-srq"),
          flag("latencies are in microseconds", "-C", "--report-cycles"),
          value("completion vector 0 is used", "-X", "--vector"),
          value("hghca info --counters shows the counters", "-W", "--report-counters"),
          flag("rows have one direction or the sum of both", "--report-both"),
          flag("the side with the host is the client", "--reversed"),
          value("messages go in one flow", "--flows"),
          value("messages go in one flow", "--flows_burst"),
          value("the P_Key at index 0 is used", "--pkey_index"),
          value("the GID names the destination on Ethernet", "--dlid"),
          value("the device has no flow labels of datagrams", "--flow_label"),
          flag("versions and MTU are always exchanged", "--dont_xchg_versions"),
          flag("the GID index chooses the address: -x", "--ipv6"),
          flag("the host's address chooses the protocol", "--ipv6-addr"),
          value("the route to the host chooses the address", "--bind_source_ip"),
          value("the link of the device is Ethernet", "--force-link"),
          flag("the margins of -D do not count", "--perform_warm_up"),
          value("receives are posted one by one", "--recv_post_list"),
          value("completions are polled 16 at a time", "--cqe_poll"),
          flag("completions are polled 16 at a time", "--disable_dynamic_polling"),
          value("the device puts no data in completions", "--inline_recv"),
          value("latency tests answer at once", "--latency_gap"),
          value("there is no latency test under load", "--reply_every"),
          value("the device has no pacing", "--typical_pkt_size"),
          flag(
              "memory of 2 MiB and more is in huge pages if the system has them",
              "--use_hugepages"),
          flag("memory is pinned", "--odp"),
          flag("all queue pairs share one region", "--mr_per_qp"),
          flag("every region has pages", "--use-null-mr"),
          flag("requests are posted by the calls of the verbs", "--use_old_post_send"),
          flag("each queue pair is used by one thread anyway", "--no_lock"),
          flag("the device orders its writes", "--disable_pcie_relaxed"),
          flag("the device completes in order", "--use_ooo"),
          flag("the device completes in order", "--no_enhanced_reorder"),
          flag("hghca demo verifies data", "--data_validation"),
          flag("hghca demo verifies data", "--data_validation_debug"),
          value("messages have any content", "--payload_file_path"),
          flag("requests carry no immediate", "--write_with_imm"),
          flag("requests carry no immediate", "--send_with_imm"),
          flag("requests carry no immediate", "--unsolicited_write"),
          flag("top shows the use of the CPU", "--cpu_util"),
          value("resources are released at once", "--wait_destroy"),
          value("taskset chooses processors", "--pin_cores"),
          value("numactl chooses nodes", "--numa_node"),
          flag("numactl chooses nodes", "--disable_numa"),
          value("the device has no congestion control", "--congest_type"),
          flag("it offloads nothing", "--sig_offload"),
          value("the device has no processing hints", "--tph_mem"),
          value("the device has no processing hints", "--cpu_id"),
          value("the device has no processing hints", "--ph"),
          flag(GPU, "--use_cuda_pcie_mapping"),
          value(GPU, "--cuda_mem_type"),
          flag(GPU, "--use_data_direct"),
          value(GPU, "--use_musa"),
          value(GPU, "--use_musa_bus_id"),
          flag(GPU, "--use_musa_dmabuf"),
          flag(GPU, "--use_musa_pcie_mapping"),
          flag(GPU, "--use_rocm_dmabuf"),
          flag(GPU, "--use_neuron_dmabuf"),
          flag(GPU, "--use_mlu_dmabuf"),
          value(GPU, "--opencl_platform_id"),
          value(GPU, "--use_ib_dm_dmabuf"),
          value(GPU, "--gpu_touch"),
          value(GPU, "--mmap"),
          value(GPU, "--mmap-offset"),
          value(GPU, "--use_cuda"),
          value(GPU, "--use_cuda_bus_id"),
          flag(GPU, "--use_cuda_dmabuf"),
          value(GPU, "--use_rocm"),
          value(GPU, "--use_neuron"),
          value(GPU, "--use_hl"),
          value(GPU, "--use_mlu"),
          value(GPU, "--use_opencl"),
          value(RAW, "-B", "--source_mac"),
          value(RAW, "-E", "--dest_mac"),
          value(RAW, "-J", "--dest_ip"),
          value(RAW, "-j", "--source_ip"),
          value(RAW, "-K", "--dest_port"),
          value(RAW, "-k", "--source_port"),
          value(RAW, "--local_mac"),
          value(RAW, "--remote_mac"),
          value(RAW, "--local_ip"),
          value(RAW, "--remote_ip"),
          value(RAW, "--local_port"),
          value(RAW, "--remote_port"),
          value(RAW, "-Y", "--ethertype"),
          flag(RAW, "-Z", "--server"),
          flag(RAW, "-P", "--client"),
          flag(RAW, "-v", "--mac_fwd"),
          flag(RAW, "-G", "--use_rss"),
          flag(RAW, "--promiscuous"),
          flag(RAW, "--sniffer"),
          flag(RAW, "--raw_mcast"),
          flag(RAW, "--raw_ipv6"),
          flag(RAW, "--tcp"),
          flag(RAW, "--vlan_en"),
          value(RAW, "--vlan_pcp"),
          flag(CRYPTO, "--aes_xts"),
          flag(CRYPTO, "--encrypt_on_tx"),
          flag(CRYPTO, "--sig_before"),
          value(CRYPTO, "--aes_block_size"),
          value(CRYPTO, "--data_enc_keys_number"),
          value(CRYPTO, "--kek_path"),
          value(CRYPTO, "--credentials_path"),
          value(CRYPTO, "--data_enc_key_app_path"),
          value(DC, "--log_dci_streams"),
          value(DC, "--log_active_dci_streams"));

  private PerfRefusals() {}

  private record Refusal(String reason, boolean hasValue, String... names) {}

  private static Refusal flag(String reason, String... names) {
    return new Refusal(reason, false, names);
  }

  private static Refusal value(String reason, String... names) {
    return new Refusal(reason, true, names);
  }

  /** Adds them to a command; its help does not show them. */
  static void addTo(CommandSpec spec) {
    for (Refusal refusal : ALL) {
      spec.addOption(
          OptionSpec.builder(refusal.names)
              .arity(refusal.hasValue ? "1" : "0")
              .type(refusal.hasValue ? String.class : boolean.class)
              .hidden(true)
              .description(UnsupportedOptions.START + refusal.reason)
              .build());
    }
  }
}
