package org.hghca.programs.perf.command;

import org.hghca.programs.CNumber;
import org.hghca.programs.OptionCheck;
import org.hghca.programs.perf.Parameters;
import org.hghca.programs.perf.Parameters.AtomicKind;
import org.hghca.programs.perf.PerfTest;
import org.hghca.programs.perf.Verb;
import org.hghca.verbs.QpType;
import picocli.CommandLine.Option;

/** The queue pairs of a program of perftest. */
final class PerfQueueOptions {
  private static final int BANDWIDTH_DEPTH = 128;
  private static final int SEND_RECEIVE_DEPTH = 512;
  private static final int MOST_DEPTH = 15_000;
  private static final int MOST_RECEIVES = 16_384;
  private static final int MOST_UNRELIABLE_RECEIVES = 16_000;
  private static final int MOST_PAIRS = 16_384;
  private static final int MODERATION = 100;
  private static final int MOST_MODERATION = 1024;

  /** Larger messages complete one by one. */
  private static final int MODERATED_BYTES = 8192;

  private static final int MOST_INLINE = 1024;
  private static final int WRITE_INLINE = 220;
  private static final int DATAGRAM_INLINE = 188;

  @Option(
      names = {"-t", "--tx-depth"},
      paramLabel = "<depth>",
      converter = CNumber.class,
      description = "Outstanding requests of a queue pair (default: 128 for throughput, else 1).")
  private Integer sendDepth;

  @Option(
      names = {"-r", "--rx-depth"},
      paramLabel = "<depth>",
      converter = CNumber.class,
      description = "Posted receives of a queue pair, of SEND tests (default: 512).")
  private Integer receiveDepth;

  @Option(
      names = {"-q", "--qp"},
      paramLabel = "<pairs>",
      converter = CNumber.class,
      description = "Queue pairs of a throughput test (default: ${DEFAULT-VALUE}).")
  private int pairs = 1;

  @Option(
      names = {"-l", "--post_list"},
      paramLabel = "<requests>",
      converter = CNumber.class,
      description = "Requests that are posted at once (default: ${DEFAULT-VALUE}).")
  private int postList = 1;

  @Option(
      names = {"-Q", "--cq-mod"},
      paramLabel = "<requests>",
      converter = CNumber.class,
      description = "Requests for each completion (default: 100; 1 for messages above 8192 bytes).")
  private Integer moderation;

  @Option(
      names = {"-I", "--inline_size"},
      paramLabel = "<bytes>",
      converter = CNumber.class,
      description =
          "Most bytes that a request carries in itself, as far as the device can (default: 0 for"
              + " throughput; 220 RDMA WRITE, 236 SEND, 188 UD for latency).")
  private Integer inline;

  @Option(
      names = {"-o", "--outs"},
      paramLabel = "<reads>",
      converter = CNumber.class,
      description = "Outstanding READs or atomics (default: as many as the device can).")
  private int outstanding;

  @Option(
      names = {"-b", "--bidirectional"},
      description = "Both sides send, in throughput tests.")
  private boolean bidirectional;

  @Option(
      names = {"-e", "--events"},
      description = "Sleep until the next completion, instead of polling.")
  private boolean events;

  @Option(
      names = {"-A", "--atomic_type"},
      paramLabel = "<type>",
      description = "CMP_AND_SWAP or FETCH_AND_ADD, of atomic tests (default: FETCH_AND_ADD).")
  private AtomicKind atomic;

  Parameters.Queues queues(
      OptionCheck check, PerfTest test, QpType type, PerfAmountOptions amount) {
    boolean bandwidth = test.isBandwidth();
    check.that(bandwidth || pairs == 1, "Multiple QPs only available on bw tests: -q");
    check.range("-q", pairs, 1, MOST_PAIRS);
    check.that(bandwidth || !bidirectional, "-b is an option of throughput tests");
    check.that(bandwidth || postList == 1, "Post list is supported in BW tests only: -l");
    check.range("-l", postList, 1, MOST_DEPTH);
    check.that(receiveDepth == null || test.verb() == Verb.SEND, "-r is an option of SEND tests");
    check.that(
        inline == null || !(test.verb() == Verb.READ || test.verb() == Verb.ATOMIC),
        "Inline feature not available on READ/Atomic verbs: -I");
    check.that(
        outstanding == 0 || test.verb() == Verb.READ || test.verb() == Verb.ATOMIC,
        "Setting Outstanding reads only available on READ verb: -o");
    check.that(atomic == null || test.verb() == Verb.ATOMIC, "-A is an option of atomic tests");
    check.that(
        bandwidth || test.verb() == Verb.SEND || sendDepth == null && moderation == null,
        "-t and -Q are options of throughput tests and ib_send_lat: others have one request");
    check.that(
        !events || test != PerfTest.IB_WRITE_LAT,
        "-e is not supported: ib_write_lat waits for memory, not for completions");
    int depth = sendDepth(check, test, amount);
    int moderated = moderation(check, test, type, amount, depth);
    return new Parameters.Queues(
        pairs,
        depth,
        receiveDepth(check, test, type, amount),
        postList,
        moderated,
        inline(check, test, type),
        outstanding,
        bidirectional,
        events,
        atomic == null ? AtomicKind.FETCH_AND_ADD : atomic);
  }

  private int sendDepth(OptionCheck check, PerfTest test, PerfAmountOptions amount) {
    int depth = sendDepth == null ? test.isBandwidth() ? BANDWIDTH_DEPTH : 1 : sendDepth;
    check.range("-t", depth, 1, MOST_DEPTH);
    if (!amount.isTimed()) {
      depth = (int) Math.min(depth, Math.max(1, amount.iterations(test)));
    }
    check.that(
        postList <= depth,
        "-l %d needs -t %d at least, not %d".formatted(postList, postList, depth));
    return depth;
  }

  private int receiveDepth(
      OptionCheck check, PerfTest test, QpType type, PerfAmountOptions amount) {
    if (test.verb() != Verb.SEND) {
      return 1;
    }
    int depth = receiveDepth == null ? SEND_RECEIVE_DEPTH : receiveDepth;
    check.range("-r", depth, 1, MOST_RECEIVES);
    if (amount.isTimed()) {
      return depth;
    }
    long iterations = amount.iterations(test);
    return (int)
        (type != QpType.RC && receiveDepth == null
            ? Math.min(iterations, MOST_UNRELIABLE_RECEIVES)
            : Math.min(iterations, depth));
  }

  private int moderation(
      OptionCheck check, PerfTest test, QpType type, PerfAmountOptions amount, int depth) {
    if (moderation != null) {
      check.range("-Q", moderation, 1, MOST_MODERATION);
      check.that(
          postList == 1 || postList % moderation == 0,
          "Post list size must be a multiple of CQ moderation");
      return Math.min(moderation, depth);
    }
    if (postList > 1) {
      return postList;
    }
    boolean large =
        amount.size(test) > MODERATED_BYTES && type != QpType.UD && !amount.isAll() && !events;
    return large ? 1 : Math.min(MODERATION, depth);
  }

  private int inline(OptionCheck check, PerfTest test, QpType type) {
    if (inline != null) {
      check.range("-I", inline, 0, MOST_INLINE);
      return inline;
    }
    if (test.isBandwidth()) {
      return 0;
    }
    return switch (test.verb()) {
      case WRITE -> WRITE_INLINE;
      case SEND -> type == QpType.UD ? DATAGRAM_INLINE : Parameters.INLINE;
      case READ, ATOMIC -> 0;
    };
  }
}
