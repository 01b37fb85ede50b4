package org.hghca.tools.bringup.virtio;

import java.lang.foreign.MemorySegment;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.hghca.tools.bringup.board.Target;
import org.hghca.tools.bringup.board.VirtioBoard;
import org.hghca.tools.bringup.step.Capability;
import org.hghca.tools.bringup.step.Observation;
import org.hghca.tools.bringup.step.Step;
import org.hghca.verbs.VerbsException;
import org.hghca.virtio.abi.Feature;
import org.hghca.virtio.abi.roce.Dialect;
import org.hghca.virtio.abi.roce.Handle;
import org.hghca.virtio.abi.roce.QueryDevice;
import org.hghca.virtio.abi.roce.QueryPort;
import org.hghca.virtio.abi.roce.QueuePlan;
import org.hghca.virtio.abi.roce.RoceCommand;
import org.hghca.virtio.driver.RoceOffer;

/** The RoCE half of a virtio device, by its commands, and the end of the steps without driver. */
public final class RoceSteps {
  public static final String OBJECTS = "roce.objects";
  public static final String CLOSE = "virtio.close";

  private static final String OFFER = "roce.offer";
  private static final String LIMITS = "roce.limits";
  private static final Dialect DIALECT = Dialect.RFC_V2;
  private static final String SPECIFICATION = "virtio-net RoCE, RFC v2, ";
  private static final int UNKNOWN_COMMAND = 200;
  private static final int NO_DOMAIN = 0x7fff_fff0;
  private static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);

  private final VirtioBoard board;

  public RoceSteps(VirtioBoard board) {
    this.board = board;
  }

  public List<Step> steps() {
    return List.of(
        Step.of(
                OFFER,
                "whether it has RoCE, and the numbers mean that",
                SPECIFICATION + "feature bits and device configuration; docs/virtio-roce.md",
                "the device's option for RoCE; a network device without it is none the worse",
                this::offer,
                Capability.NEGOTIATION)
            .giving(Capability.ROCE),
        Step.of(
                LIMITS,
                "QUERY_DEVICE and QUERY_PORT",
                SPECIFICATION + "control virtqueue, class 6",
                "the answer behind the byte of the result, and its length in the used ring",
                this::limits,
                Capability.ROCE)
            .giving(Capability.LIMITS),
        Step.of(
                OBJECTS,
                "CREATE_PD and DESTROY_PD; what the device must refuse",
                SPECIFICATION + "control virtqueue, class 6",
                "the byte of the result: 0 is OK, 1 is an error",
                this::objects,
                Capability.LIMITS)
            .giving(Capability.ANSWERS),
        Step.of(
            CLOSE,
            "no DMA was refused, and the device is reset",
            "virtio 1.2, 2.1 (device status); IOMMU of the platform",
            "the system's log: faults of the IOMMU",
            this::close,
            Capability.STRUCTURES));
  }

  private void offer(Observation o) {
    o.expect("feature %d with a plausible configuration".formatted(DIALECT.feature()));
    try {
      board.attach();
      QueuePlan plan = RoceOffer.check(board.device(), DIALECT);
      o.saw("%d completion queues from %d on".formatted(plan.cqs(), plan.completion(0)));
      o.saw("%d queue pairs from %d on".formatted(plan.qps(), plan.send(0)));
    } catch (VerbsException e) {
      throw Observation.skip(e.getMessage());
    }
  }

  private boolean execute(RoceCommand command, MemorySegment data, MemorySegment answer) {
    return board.control().execute(DIALECT.controlClass(), command.code(), data, answer);
  }

  private MemorySegment ask(Observation o, RoceCommand command) {
    MemorySegment answer = MemorySegment.ofArray(new byte[command.ackSize()]);
    o.check(execute(command, NOTHING, answer), "%s is refused".formatted(command));
    return answer;
  }

  private void limits(Observation o) {
    o.expect("requests, elements, completions, regions, domains and GIDs: none of them 0");
    board.negotiate(Feature.mask(DIALECT.feature()));
    board.setUpQueues();
    board.device().start();
    MemorySegment device = ask(o, RoceCommand.QUERY_DEVICE);
    MemorySegment port = ask(o, RoceCommand.QUERY_PORT);
    long requests = QueryDevice.MAX_QP_WR.getLong(device, 0);
    long elements = QueryDevice.MAX_SEND_SGE.getLong(device, 0);
    long entries = QueryDevice.MAX_CQE.getLong(device, 0);
    long regions = QueryDevice.MAX_MR.getLong(device, 0);
    long domains = QueryDevice.MAX_PD.getLong(device, 0);
    long gids = QueryPort.GID_TBL_LEN.getLong(port, 0);
    Map<String, Object> limits = new LinkedHashMap<>();
    limits.put("max_qp_wr", requests);
    limits.put("max_send_sge", elements);
    limits.put("max_cqe", entries);
    limits.put("max_mr", regions);
    limits.put("max_pd", domains);
    limits.put("gid_tbl_len", gids);
    o.fact("limits", limits);
    o.saw(
        "%d requests of a queue, %d elements of a request, %d entries of a completion queue"
            .formatted(requests, elements, entries));
    o.saw("%d regions, %d protection domains, %d GIDs".formatted(regions, domains, gids));
    o.check(
        requests > 0 && elements > 0 && entries > 0 && regions > 0 && domains > 0 && gids > 0,
        "one of them is 0");
  }

  private void objects(Observation o) {
    o.expect("a protection domain is created and destroyed");
    o.expect("refused: an unknown command, a domain that is not there, a domain that has gone");
    MemorySegment domain = ask(o, RoceCommand.CREATE_PD);
    o.saw("protection domain %d".formatted(Handle.NUMBER.get(domain, 0)));
    boolean unknown =
        board.control().execute(DIALECT.controlClass(), UNKNOWN_COMMAND, NOTHING, NOTHING);
    o.check(!unknown, "command %d is answered with OK".formatted(UNKNOWN_COMMAND));
    MemorySegment none = MemorySegment.ofArray(new byte[Handle.SIZE]);
    Handle.NUMBER.set(none, 0, NO_DOMAIN);
    o.check(
        !execute(RoceCommand.DESTROY_PD, none, NOTHING), "a domain that is not there is destroyed");
    o.check(execute(RoceCommand.DESTROY_PD, domain, NOTHING), "DESTROY_PD is refused");
    o.check(!execute(RoceCommand.DESTROY_PD, domain, NOTHING), "a domain is destroyed twice");
    board.device().check();
    o.saw("refused what must be");
  }

  private void close(Observation o) {
    o.expect("0 refused accesses; status 0 after the reset");
    long faults = board.function().dmaFaultCount();
    board.detach();
    o.saw("%d refused accesses; the device is reset".formatted(faults));
    o.check(faults == 0, "%d accesses of the device to memory were refused".formatted(faults));
    if (!board.function().reportsDmaFaults()) {
      throw Observation.notJudged(Target.UNREPORTED);
    }
  }
}
