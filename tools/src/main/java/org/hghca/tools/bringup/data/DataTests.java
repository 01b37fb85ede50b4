package org.hghca.tools.bringup.data;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.hghca.tools.bringup.board.Driver;
import org.hghca.tools.bringup.step.Capability;
import org.hghca.tools.bringup.step.Observation;
import org.hghca.tools.bringup.step.Step;

/** The steps that test the data path by amount; they share the budget. */
public final class DataTests {
  /** The step that sends for a long time. */
  public static final String SOAK = "data.soak";

  private static final String WQE = "interface document, tables 3-4-1 to 3-4-13; CQE: 3-3-2";
  private static final String MTT = "interface document, 3.2.3 (MPT and MTT)";
  private static final int STEPS = 5;

  /** Messages of the stream; and without so many it is not judged. */
  private static final int MESSAGES = 10_000;

  private static final int LEAST_MESSAGES = 200;

  private final Driver driver;

  public DataTests(Driver driver) {
    this.driver = driver;
  }

  /** All steps, in their order. */
  public List<Step> steps() {
    Lengths lengths = new Lengths(driver);
    List<Step> steps =
        List.of(
            Step.of(
                "data.lengths",
                "every length to 520 bytes",
                WQE,
                "the ends of packets and of bus transfers: the length that is named, modulo 4 and"
                    + " 32",
                o -> lengths.every(o, share()),
                Capability.SEND,
                Capability.WRITE,
                Capability.READ),
            Step.of(
                "data.crossings",
                "messages across boundaries of packets and pages",
                WQE,
                "where a bus transfer is split: 128, 256, 4,096 bytes",
                o -> lengths.acrossBoundaries(o, share()),
                Capability.SEND,
                Capability.WRITE,
                Capability.READ),
            Step.of(
                "data.pages",
                "regions of many pages",
                MTT,
                "the index into the MTT: its stride, its upper bits",
                o -> new Pages(driver).run(o, share()),
                Capability.WRITE),
            Step.of(
                "data.regions",
                "many regions, and regions in the place of others",
                MTT,
                "the address lines of MPT and MTT; what the card keeps of an entry that was"
                    + " replaced",
                o -> new Regions(driver).run(o, share()),
                Capability.WRITE),
            Step.of(
                "data.stream",
                "thousands of messages in flight, in lists and one by one",
                WQE,
                "the doorbell FIFO, the order of payload and CQE, single bits",
                this::stream,
                Capability.SEND,
                Capability.WRITE,
                Capability.READ));
    return Stream.concat(
            steps.stream().map(step -> step.lasting(share())),
            Stream.of(
                Step.of(
                        SOAK,
                        "messages for a long time",
                        WQE,
                        "the time and the message of the first error; clocks and temperature",
                        this::soak,
                        Capability.MESSAGES)
                    .lasting(driver.options().effort().soak())))
        .toList();
  }

  private Duration share() {
    return driver.options().effort().budget().dividedBy(STEPS);
  }

  private void stream(Observation o) {
    o.expect(
        "%,d messages by SEND, WRITE and READ, %d of them in flight: each completes once, in its"
                .formatted(MESSAGES, MessageStream.DEPTH)
            + " order, with all its bytes in place");
    Quota quota = new Quota(share(), MESSAGES, LEAST_MESSAGES);
    try (MessageStream stream = new MessageStream(driver, 0)) {
      stream.run(o, quota);
      o.saw("%,d bytes".formatted(stream.bytes()));
    }
    quota.close(o, "messages");
  }

  private void soak(Observation o) {
    Duration time = driver.options().effort().soak();
    if (time.isZero()) {
      throw Observation.skip("--soak runs it");
    }
    new Soak(driver).run(o, time);
  }
}
