package org.hghca.conformance.table;

import java.util.List;
import java.util.stream.Stream;

/** Cases that no test can prove here, and why. */
final class Untested {
  private Untested() {}

  static List<Row> rows() {
    return Stream.of(required(), ifSupported(), contract(), notHere())
        .flatMap(List::stream)
        .toList();
  }

  /** It has no meaning here. */
  private static Row none(Tier tier, String source, String says, String reason) {
    return new Row(tier, source, says, "", reason, false);
  }

  /** It has a meaning, but the API has no way to ask for it. */
  private static Row unsupported(String source, String says, String reason) {
    return new Row(Tier.IF_SUPPORTED, source, says, "", reason, true);
  }

  private static List<Row> required() {
    return List.of(
        none(
            Tier.REQUIRED,
            "test_fork.ForkAPITest.test_is_fork_initialized",
            "fork support is initialized, or said to be unneeded",
            "unneeded: a JVM does not fork, and starting a process gives it none of the memory"));
  }

  private static List<Row> ifSupported() {
    String mode = "no such queue pair type in the API, nor in the device";
    String extended = "the request API of ibv_qp_ex says nothing that a request list does not";
    String cm = "no connection manager is shipped: it needs QP1, which the device has not";
    String parent = "no parent domains: rings live in memory that the driver pools";
    Tier tier = Tier.IF_SUPPORTED;
    return List.of(
        unsupported("test_atomic.AtomicTest.test_xrc_*", "atomics over XRC", mode),
        unsupported("test_cqex.CqExTestCase.test_xrc_traffic_cq_ex", "traffic over XRC", mode),
        unsupported("test_qpex.QpExTestCase.test_qp_ex_xrc_*", "sends over XRC", mode),
        unsupported("test_relaxed_ordering.RoTestCase.test_ro_xrc_traffic", "XRC traffic", mode),
        unsupported(
            "test_qpex.QpExTestCase.test_qp_ex_rc_flush*", "RDMA FLUSH", "no such operation"),
        unsupported(
            "test_qpex.QpExTestCase.test_qp_ex_rc_atomic_write",
            "ATOMIC WRITE",
            "no such operation"),
        none(tier, "test_qp.QPTest.test_create_*_qp_ex_*", "queue pairs by ibv_qp_ex", extended),
        none(
            tier,
            "test_parent_domain.ParentDomainTrafficTest.test_*_allocators_*",
            "rings in memory of the caller's allocator",
            parent),
        none(
            tier,
            "test_parent_domain.ParentDomainTrafficTest.test_huge_page_traffic",
            "rings in huge pages",
            parent),
        none(
            tier,
            "test_parent_domain.ParentDomainTrafficTest.test_mem_align_*",
            "rings in memory of some alignment",
            parent),
        none(tier, "test_rdmacm.CMTestCase.test_rdmacm_async_*", "asynchronous CM traffic", cm),
        none(tier, "test_rdmacm.CMTestCase.test_rdmacm_sync_traffic", "synchronous traffic", cm));
  }

  private static List<Row> contract() {
    return List.of(
        none(
            Tier.CONTRACT,
            VerbsCase.CONTRACT,
            "kill -9 leaves no DMA mapping",
            "the kernel's: VFIO unmaps and resets when the descriptor closes; no kernel is in it"
                + " with a software HCA"));
  }

  private static List<Row> notHere() {
    Tier tier = Tier.NOT_HERE;
    return List.of(
        none(tier, "test_cuda_dmabuf", "memory of a GPU", "no dma-buf in VFIO"),
        none(tier, "test_dmah", "processing hints", "the device takes none"),
        none(tier, "test_efa*", "what EFA adds", "another device"),
        none(tier, "test_device.DMTest", "memory of the device", "the device has none to give"),
        none(tier, "test_flow, test_rss_traffic", "flow steering and RSS", "no raw packets"),
        none(tier, "test_mlx5_*", "what mlx5 adds", "another device; its VFIO tests are above"),
        none(tier, "test_mr.DmaBufMRTest", "memory of other drivers", "no dma-buf in VFIO"),
        none(tier, "test_odp.OdpTestCase", "memory registered but not pinned", "no page faults"),
        none(tier, "test_phc_timestamp", "time stamps in completions", "the device makes none"),
        none(tier, "test_qp.QPTest.test_*_raw_qp_*", "raw packet queue pairs", "no such type"),
        none(tier, "test_shared_pd", "import of another process's PD", "a function has one owner"),
        none(tier, "test_tag_matching.TMTest", "tag matching", "the device cannot"));
  }
}
