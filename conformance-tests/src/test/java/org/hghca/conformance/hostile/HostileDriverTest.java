package org.hghca.conformance.hostile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.hghca.abi.Bar;
import org.hghca.abi.Doorbell;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.Hcr;
import org.hghca.abi.HcrCommand;
import org.hghca.model.SoftwareHca;
import org.hghca.verbs.Completions;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.VerbsException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The software HCA under a faulty driver: random registers, commands, mailboxes, work requests, and
 * contents of the memory that holds its tables. It never fails internally, never hangs, and works
 * again after a reset. {@code -Dhghca.fuzz=N} runs N rounds instead of the build's.
 */
@Timeout(600)
class HostileDriverTest {
  private static final int ROUNDS = Integer.getInteger("hghca.fuzz", 60);
  private static final int INPUTS = 2_000;
  private static final int[] WIDTHS = {1, 2, 4, 8};
  private static final List<HcrCommand> COMMANDS = List.of(HcrCommand.values());

  static LongStream seeds() {
    return LongStream.range(0, ROUNDS);
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void inputsOfAnyKindDoNoHarmBeyondAReset(long seed) {
    String name = Victim.newName();
    SplittableRandom random = new SplittableRandom(seed);
    Victim victim = Victim.open(name);
    victim.exchange();
    Saboteur device = victim.device();
    SoftwareHca hca = device.hca();
    for (int i = 0; i < INPUTS; i++) {
      input(victim, device, random);
      assertThat(hca.faults())
          .as("seed %d, input %d", seed, i)
          .noneMatch(fault -> fault.startsWith("internal failure"));
    }
    victim.closeAll();
    assertThat(device.mappingsAtClose()).as("seed %d", seed).isZero();
    try (Victim next = Victim.open(name)) {
      next.exchange();
    }
  }

  /** An internal failure must not recur with each attempt to report it. */
  @Test
  void busThatThrowsDoesNotKeepTheHcaBusy() {
    String name = Victim.newName();
    Victim victim = Victim.open(name);
    Saboteur device = victim.device();
    assertTimeoutPreemptively(
        Duration.ofSeconds(60),
        () -> {
          device.turn(
              new Sabotage() {
                @Override
                public boolean dmaWrite(long iova, MemorySegment bytes) {
                  throw new IllegalStateException("made up");
                }
              });
          victim.send();
        });
    assertThat(device.hca().faults()).anyMatch(fault -> fault.startsWith("internal failure"));
    device.turn(Sabotage.NONE);
    victim.closeAll();
    try (Victim next = Victim.open(name)) {
      next.exchange();
    }
  }

  private static void input(Victim victim, Saboteur device, SplittableRandom random) {
    switch (random.nextInt(12)) {
      case 0 -> register(device, random);
      case 1, 2 -> command(device, random);
      case 3, 4, 5 -> memory(device, random);
      case 6, 7 -> doorbell(victim, device, random);
      case 8 -> uar(device, random);
      case 9 -> device.hca().simulation().advance(Duration.ofNanos(random.nextLong(100_000_000)));
      default -> request(victim, random);
    }
  }

  /** Any register; rarely the one that resets. */
  private static void register(Saboteur device, SplittableRandom random) {
    int bar = random.nextBoolean() ? Bar.BAR0 : Bar.BAR2;
    int width = WIDTHS[random.nextInt(WIDTHS.length)];
    long offset = random.nextLong(device.regionSize(bar)) & -width;
    if (random.nextBoolean()) {
      device.write(bar, offset, width, random.nextLong());
    } else {
      device.read(bar, offset, width);
    }
  }

  private static void command(Saboteur device, SplittableRandom random) {
    long hcr = HardwareProfile.S.hcrBase();
    HcrCommand op = COMMANDS.get(random.nextInt(COMMANDS.size()));
    if (op == HcrCommand.CLOSE_HCA && random.nextInt(50) != 0) {
      return; // without the tables, few operations can reach the card
    }
    int code = random.nextInt(16) == 0 ? random.nextInt(0x1000) : op.code();
    long in = parameter(device, random);
    long out = parameter(device, random);
    device.write(Bar.BAR0, hcr + Hcr.IN_PARAM_HIGH, 4, in >>> 32);
    device.write(Bar.BAR0, hcr + Hcr.IN_PARAM_LOW, 4, in & 0xffff_ffffL);
    device.write(Bar.BAR0, hcr + Hcr.IN_MODIFIER, 4, number(random));
    device.write(Bar.BAR0, hcr + Hcr.OUT_PARAM_HIGH, 4, out >>> 32);
    device.write(Bar.BAR0, hcr + Hcr.OUT_PARAM_LOW, 4, out & 0xffff_ffffL);
    int go = 1 << 23 | (random.nextInt(4) & 0xff) << 12 | code;
    device.write(Bar.BAR0, hcr + Hcr.COMMAND, 4, go & 0xffff_ffffL);
    assertThat(Hcr.go((int) device.read(Bar.BAR0, hcr + Hcr.COMMAND, 4))).isFalse();
  }

  /** An address that the device uses, any address, or a small number. */
  private static long parameter(Saboteur device, SplittableRandom random) {
    return switch (random.nextInt(4)) {
      case 0 -> random.nextLong();
      case 1 -> number(random);
      default -> device.touched(random) & -64;
    };
  }

  /** Mostly small, sometimes any value. */
  private static long number(SplittableRandom random) {
    return switch (random.nextInt(4)) {
      case 0 -> random.nextLong() & 0xffff_ffffL;
      case 1 -> random.nextInt(1 << 16);
      default -> random.nextInt(8);
    };
  }

  /** Tables, queues and mailboxes: some bytes near an address that the device has used. */
  private static void memory(Saboteur device, SplittableRandom random) {
    long at = device.touched(random);
    byte[] bytes = new byte[1 << random.nextInt(6)];
    if (random.nextInt(4) != 0) {
      random.nextBytes(bytes);
    }
    device.write(at + random.nextInt(64), bytes);
  }

  private static void doorbell(Victim victim, Saboteur device, SplittableRandom random) {
    int qpn =
        random.nextInt(8) == 0
            ? random.nextInt(1 << 24)
            : victim.queuePairs().get(random.nextInt(5)).number();
    long value =
        Doorbell.sendQueue(
            qpn,
            random.nextInt(random.nextBoolean() ? 8 : 256),
            random.nextInt(random.nextBoolean() ? 64 : 1 << 16),
            random.nextInt(2),
            random.nextInt(32));
    device.write(Bar.BAR2, random.nextInt(2048) * (long) Bar.UAR_PAGE_SIZE, 8, value);
  }

  private static void uar(Saboteur device, SplittableRandom random) {
    long page = random.nextInt(2048) * (long) Bar.UAR_PAGE_SIZE;
    device.write(
        Bar.BAR2,
        page + 8L * random.nextInt(6),
        WIDTHS[random.nextInt(4)],
        number(random) << random.nextInt(32));
  }

  /** A valid request, whose element is then changed in place. */
  private static void request(Victim victim, SplittableRandom random) {
    try {
      if (random.nextBoolean()) {
        victim.left.tryPostSend(
            new SendRequest()
                .rdmaWrite(victim.buffer.address() + number(random), victim.buffer.rkey())
                .sge(victim.buffer, 0, random.nextInt(4096))
                .signaled());
      } else if (random.nextBoolean()) {
        victim.send();
      } else {
        victim.told.requestNotify(random.nextBoolean());
        victim.tryOthers();
      }
      victim.queue.poll(new Completions(4));
      victim.buffer.segment().get(ValueLayout.JAVA_BYTE, 0);
    } catch (VerbsException e) {
      // the program is told that its device is broken, as it should be
    }
  }
}
