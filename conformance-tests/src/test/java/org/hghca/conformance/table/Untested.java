package org.hghca.conformance.table;

import java.util.List;
import java.util.stream.Stream;

/** Cases that no test can prove here, with the reason. */
final class Untested {
  private Untested() {}

  static List<Row> rows() {
    return Stream.of(required(), ifSupported(), contract(), notHere())
        .flatMap(List::stream)
        .toList();
  }

  /** Not applicable here. */
  private static Row none(Tier tier, String source, String says, String reason) {
    return new Row(tier, source, says, "", reason, false);
  }

  /** Applicable, but the API has no method for it. */
  private static Row unsupported(String source, String says, String reason) {
    return new Row(Tier.IF_SUPPORTED, source, says, "", reason, true);
  }

  private static List<Row> required() {
    Tier tier = Tier.REQUIRED;
    return List.of(
        none(
            tier,
            "test_device.DeviceTest.test_query_gid_table_bad_flow",
            "a table of 0 entries is EINVAL",
            "the verb returns a list and takes no array to fill"),
        none(
            tier,
            "test_device.DeviceTest.test_query_port_speed",
            "the speed of a port in Mbit/s",
            "no device command reports it"),
        none(
            tier,
            "test_fork.ForkAPITest.test_is_fork_initialized",
            "fork support is initialized, or reported as unneeded",
            "unneeded: a JVM does not fork, and a started process gets none of the memory"),
        none(
            tier,
            "test_qp.QPTest.test_create_ud_qp_with_privileged_qkey",
            "a Q_Key with its highest bit set needs CAP_NET_RAW",
            "checked by the kernel: the owner of the function may set any value"),
        none(
            tier,
            "test_qp.QPTest.test_query_data_in_order",
            "whether data is written in order",
            "no such verb: data may be read only after its completion"));
  }

  private static List<Row> ifSupported() {
    String mode = "no such queue pair type in the API, nor in the device";
    String one = "one method creates them for both";
    String cm = "no connection manager is shipped: it needs QP1, which the device lacks";
    String parent = "no parent domains: rings are in memory that the driver pools";
    String test = "test_parent_domain.ParentDomainTrafficTest.";
    String window = "no memory windows in the API: no element of a send queue names the region";
    String mw = "test_mr.MWTest.";
    Tier tier = Tier.IF_SUPPORTED;
    return List.of(
        unsupported("test_atomic.AtomicTest.test_xrc_*", "atomics over XRC", mode),
        unsupported("test_cqex.CqExTestCase.test_xrc_traffic_cq_ex", "traffic over XRC", mode),
        unsupported("test_qpex.QpExTestCase.test_qp_ex_xrc_*", "sends over XRC", mode),
        unsupported("test_relaxed_ordering.RoTestCase.test_ro_xrc_traffic", "XRC traffic", mode),
        none(
            tier,
            "test_mr.MRTest.test_reg_mrex_inval_params",
            "parameters of ibv_reg_mr_ex that contradict each other are EINVAL",
            "no such parameters: a region is a segment and its flags"),
        unsupported(
            mw + "test_mw_type1", "a window of type 1 is bound and written through", window),
        unsupported(mw + "test_mw_ex_type1", "the same onto a region of ibv_reg_mr_ex", window),
        unsupported(
            mw + "test_invalidate_mw_type1",
            "bound again with length 0: 'Remote access error'",
            window),
        unsupported(
            mw + "test_mw_type2",
            "a window of type 2 is bound by a send request and written through",
            window),
        unsupported(
            mw + "test_mw_type2_invalidate_local", "LOCAL_INV: 'Remote access error'", window),
        unsupported(
            mw + "test_mw_type2_invalidate_remote", "SEND_WITH_INV: 'Remote access error'", window),
        unsupported(
            mw + "test_mw_type2_invalidate_dealloc",
            "the window is deallocated: 'Remote access error'",
            window),
        none(tier, mw + "test_reg_mw_wrong_type", "a window of type 3 is refused", window),
        unsupported(
            "test_qpex.QpExTestCase.test_qp_ex_rc_bind_mw",
            "a window is bound by ibv_wr_bind_mw",
            window),
        none(tier, "test_qp.QPTest.test_create_*_qp_ex_*", "queue pairs by ibv_qp_ex", one),
        none(tier, test + "test_default_allocators_rc_traffic", "default allocators", parent),
        none(tier, test + "test_huge_page_traffic", "rings in huge pages", parent),
        none(tier, test + "test_mem_align_*", "rings in memory of the caller", parent),
        none(tier, "test_rdmacm.CMTestCase.test_rdmacm_async_*", "asynchronous CM traffic", cm),
        none(tier, "test_rdmacm.CMTestCase.test_rdmacm_sync_traffic", "synchronous traffic", cm));
  }

  private static List<Row> contract() {
    return List.of(
        none(
            Tier.CONTRACT,
            VerbsCase.CONTRACT,
            "a CQ that is overrun raises IBV_EVENT_CQ_ERR",
            "no program can overrun one; tests below the verbs cover the device's part"),
        none(
            Tier.CONTRACT,
            VerbsCase.CONTRACT,
            "kill -9 leaves no DMA mapping",
            "done by the kernel: VFIO unmaps and resets when the descriptor closes; a software HCA"
                + " has no kernel in between"));
  }

  private static List<Row> notHere() {
    Tier tier = Tier.NOT_HERE;
    String operation = "no such operation in the API, nor in the device";
    String dmaBuf = "VFIO maps no dma-buf";
    return List.of(
        none(tier, "test_cuda_dmabuf", "memory of a GPU", dmaBuf),
        none(tier, "test_device.DMTest", "memory of the device", "the device has none to give"),
        none(tier, "test_dmah", "processing hints", "the device supports none"),
        none(tier, "test_efa*", "extensions of EFA", "another device"),
        none(tier, "test_flow, test_rss_traffic", "flow steering and RSS", "no raw packets"),
        none(tier, "test_mlx5_*", "extensions of mlx5", "another device; its VFIO tests are above"),
        none(tier, "test_mr.DeviceMemory*", "memory of the device", "the device has none to give"),
        none(tier, "test_mr.DmaBuf*", "memory of other drivers", dmaBuf),
        none(tier, "test_phc_timestamp", "time stamps in completions", "the device generates none"),
        none(tier, "test_qp.QPTest.test_*_raw_qp_*", "raw packet queue pairs", "no such type"),
        none(tier, "test_qpex.QpExTestCase.test_qp_ex_rc_atomic_write", "ATOMIC WRITE", operation),
        none(tier, "test_qpex.QpExTestCase.test_qp_ex_rc_flush*", "FLUSH", operation),
        none(tier, "test_shared_pd", "another process's PD", "a function has one owner"),
        none(tier, "test_tag_matching.TMTest", "tag matching", "not supported by the device"));
  }
}
