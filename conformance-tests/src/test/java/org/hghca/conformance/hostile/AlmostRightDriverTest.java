package org.hghca.conformance.hostile;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.hghca.abi.Bar;
import org.hghca.abi.CommandStatus;
import org.hghca.abi.Doorbell;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.Hcr;
import org.hghca.abi.HcrCommand;
import org.hghca.conformance.hostile.CommandRecorder.Given;
import org.hghca.verbs.Completions;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.VerbsException;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The software HCA under a driver that is nearly correct, so that its errors are not refused at
 * once: valid commands issued again with one byte changed; queue pairs of every type with one step
 * changed; work requests, contexts and tables of which the HCA reads some bytes wrongly; a second
 * bring-up. It never fails internally, and commands always complete. The program gets an error and
 * reopens the device. {@code -Dhghca.fuzz=N} runs N rounds instead of the build's.
 */
@Timeout(600)
class AlmostRightDriverTest {
  private static final int ROUNDS = Integer.getInteger("hghca.fuzz", 30);
  private static final int INPUTS = 1_000;
  private static final long HCR = HardwareProfile.S.hcrBase();

  /** One in this many bytes that the HCA reads at once is wrong. */
  private static final int WRONG_READS = 60;

  private final String name = Victim.newName();
  private SplittableRandom random;
  private Victim victim;
  private Saboteur device;
  private Map<HcrCommand, List<Given>> commands;
  private List<Given> life;
  private int commandsGiven;
  private int commandsDone;

  static LongStream seeds() {
    return LongStream.range(0, ROUNDS);
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void inputsThatAreNearlyCorrectDoNoHarmBeyondAReset(long seed) {
    random = new SplittableRandom(seed);
    open();
    for (int i = 0; i < INPUTS; i++) {
      try {
        input();
      } catch (VerbsException e) {
        // The program gets an error that its device is broken, as expected.
        if (random.nextInt(4) == 0) {
          close();
          open();
        }
      }
      assertThat(device.hca().faults())
          .as("seed %d, input %d", seed, i)
          .noneMatch(fault -> fault.startsWith("internal failure"));
    }
    close();
    assertThat(commandsDone).as("commands that were not refused").isGreaterThan(commandsGiven / 5);
    HostileProvider.plan(name, Sabotage.NONE);
    try (Victim next = Victim.open(name)) {
      next.exchange();
    }
  }

  private void open() {
    CommandRecorder recorder = new CommandRecorder(name);
    HostileProvider.plan(name, recorder);
    victim = Victim.open(name);
    victim.exchange();
    device = victim.device();
    life = recorder.given();
    commands =
        life.stream()
            .collect(
                Collectors.groupingBy(
                    Given::command, () -> new EnumMap<>(HcrCommand.class), Collectors.toList()));
    device.turn(wrongReads());
  }

  private void close() {
    victim.closeAll();
    assertThat(device.mappingsAtClose()).isZero();
  }

  private Sabotage wrongReads() {
    SplittableRandom own = random.split();
    return new Sabotage() {
      @Override
      public boolean dmaRead(MemorySegment bytes) {
        if (bytes.byteSize() > 0 && own.nextInt(WRONG_READS) == 0) {
          // The units of a request are in the first bytes that are read.
          long at =
              own.nextLong(own.nextBoolean() ? Math.min(64, bytes.byteSize()) : bytes.byteSize());
          int change = own.nextBoolean() ? 1 << own.nextInt(8) : own.nextInt(256);
          bytes.set(
              ValueLayout.JAVA_BYTE, at, (byte) (bytes.get(ValueLayout.JAVA_BYTE, at) ^ change));
        }
        return true;
      }
    };
  }

  private void input() {
    switch (random.nextInt(16)) {
      case 0, 1, 2 -> oneAgain();
      case 3, 4 -> lifeOfAQueuePair();
      case 5 -> arm();
      case 6 -> device.hca().simulation().advance(Duration.ofMillis(random.nextInt(200)));
      case 7 -> doorbell();
      case 8 -> {
        if (random.nextInt(20) == 0) {
          bringUpAgain();
        }
      }
      case 9 -> {
        victim.send();
        victim.queue.poll(new Completions(8));
      }
      case 10 -> victim.told.requestNotify(random.nextBoolean());
      case 11 -> {
        if (random.nextInt(8) == 0) {
          victim.reset();
        }
      }
      default -> victim.tryOthers();
    }
  }

  /** Any recorded command, each kind with the same probability. */
  private void oneAgain() {
    List<HcrCommand> kinds = new ArrayList<>(commands.keySet());
    HcrCommand kind = kinds.get(random.nextInt(kinds.size()));
    List<Given> all = commands.get(kind);
    Given given = all.get(random.nextInt(all.size()));
    HcrCommand release =
        switch (kind) {
          case SW2HW_MPT -> HcrCommand.HW2SW_MPT;
          case SW2HW_EQ -> HcrCommand.HW2SW_EQ;
          case SW2HW_CQ -> HcrCommand.HW2SW_CQ;
          default -> null;
        };
    if (release != null && random.nextInt(4) != 0) {
      give(release, 0, 0, given.modifier(), given.out());
    }
    again(given, random.nextInt(4) != 0);
  }

  /** From RESET on, as the driver did, with one step changed. */
  private void lifeOfAQueuePair() {
    List<Given> starts = commands.getOrDefault(HcrCommand.RST2INIT, List.of());
    int qpn = starts.get(random.nextInt(starts.size())).modifier();
    List<Given> steps =
        life.stream().filter(g -> g.command().isModifyQp() && g.modifier() == qpn).toList();
    int changed = random.nextInt(steps.size() + 1);
    give(HcrCommand.ERR2RST, HcrCommand.NO_INBOX, 0, qpn, 0);
    for (int i = 0; i < steps.size(); i++) {
      again(steps.get(i), i == changed);
    }
  }

  private void bringUpAgain() {
    give(HcrCommand.CLOSE_HCA, 0, 0, 0, 0);
    int changed = random.nextInt(2 * life.size());
    for (int i = 0; i < life.size(); i++) {
      again(life.get(i), i == changed);
    }
  }

  private void again(Given given, boolean change) {
    byte[] inbox = given.inbox().clone();
    int modifier = given.modifier();
    if (change && (inbox.length == 0 || random.nextInt(4) == 0)) {
      modifier = random.nextBoolean() ? modifier ^ 1 << random.nextInt(24) : random.nextInt(64);
    } else if (change) {
      for (int n = random.nextInt(3); n >= 0; n--) {
        int at = random.nextInt(inbox.length);
        inbox[at] = (byte) (random.nextBoolean() ? random.nextInt() : inbox[at] ^ 1 << n);
      }
    }
    if (inbox.length > 0) {
      device.write(given.in(), inbox);
    }
    give(given.command(), given.opModifier(), given.in(), modifier, given.out());
  }

  private void give(HcrCommand command, int opModifier, long in, int modifier, long out) {
    if (command == HcrCommand.CLOSE_HCA && random.nextInt(4) == 0) {
      return;
    }
    store(Hcr.IN_PARAM_HIGH, (int) (in >>> 32));
    store(Hcr.IN_PARAM_LOW, (int) in);
    store(Hcr.IN_MODIFIER, modifier);
    store(Hcr.OUT_PARAM_HIGH, (int) (out >>> 32));
    store(Hcr.OUT_PARAM_LOW, (int) out);
    store(Hcr.COMMAND, 1 << 23 | opModifier << 12 | command.code());
    int word = (int) device.read(Bar.BAR0, HCR + Hcr.COMMAND, 4);
    assertThat(Hcr.go(word)).as("%s has not ended", command).isFalse();
    commandsGiven++;
    if (Hcr.status(word) == CommandStatus.OK.code()) {
      commandsDone++;
    }
  }

  private void store(int register, int value) {
    device.write(Bar.BAR0, HCR + register, 4, value & 0xffff_ffffL);
  }

  /** Mostly of existing event queues and completion queues. */
  private void arm() {
    long page = random.nextInt(64) * (long) Bar.UAR_PAGE_SIZE;
    if (random.nextBoolean()) {
      int value = Doorbell.armCompletionQueue(random.nextInt(8), random.nextBoolean());
      device.write(Bar.BAR2, page + Doorbell.CQ_ARM, 4, value & 0xffff_ffffL);
    } else {
      int value = Doorbell.armEventQueue(random.nextInt(8), random.nextInt(32));
      device.write(Bar.BAR2, page + Doorbell.EQ_ARM, 4, value & 0xffff_ffffL);
    }
  }

  private void doorbell() {
    List<QueuePair> all = victim.queuePairs();
    long value =
        Doorbell.sendQueue(
            all.get(random.nextInt(all.size())).number(),
            random.nextInt(32),
            random.nextInt(64),
            random.nextInt(2),
            random.nextInt(32));
    device.write(Bar.BAR2, random.nextInt(16) * (long) Bar.UAR_PAGE_SIZE, 8, value);
  }
}
