package org.hghca.conformance.hostile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.hghca.abi.Bar;
import org.hghca.abi.Cqe;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.Hcr;
import org.hghca.abi.HcrCommand;
import org.hghca.verbs.Completions;
import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;
import org.hghca.verbs.WcStatus;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The driver on faulty devices. For every fault: no call hangs, nothing crashes, the cause is
 * reported, nothing stays mapped, and the device can be reopened once it works again.
 */
class HostileDeviceTest {
  private static final long ALL_ONES = 0xffff_ffffL;

  /** Commands from opening to closing, and how many of them precede closing. */
  private static final int COMMANDS;

  private static final int COMMANDS_OF_OPENING;

  static {
    String name = Victim.newName();
    CommandSabotage counter = new CommandSabotage(Integer.MAX_VALUE - 1) {};
    HostileProvider.plan(name, counter);
    try (Victim victim = Victim.open(name)) {
      victim.exchange();
      COMMANDS_OF_OPENING = counter.commands();
    }
    COMMANDS = counter.commands();
  }

  private final String name = Victim.newName();

  static IntStream commands() {
    return IntStream.range(0, COMMANDS);
  }

  /** The device can be opened again, and works. */
  private void assertRecovers() {
    HostileProvider.plan(name, Sabotage.NONE);
    try (Victim victim = Victim.open(name)) {
      victim.exchange();
    }
    assertThat(HostileProvider.device(name).mappingsAtClose()).isZero();
  }

  /** A run on a device that fails at some command; returns the errors that the program received. */
  private VerbsException live(Sabotage sabotage) {
    return live(sabotage, Victim::exchange);
  }

  private VerbsException live(Sabotage sabotage, Consumer<Victim> deed) {
    HostileProvider.plan(name, sabotage);
    VerbsException told = null;
    Victim victim = null;
    try {
      victim = Victim.open(name);
      deed.accept(victim);
    } catch (VerbsException e) {
      told = e;
    } finally {
      VerbsException late = victim == null ? null : victim.closeAll().orElse(null);
      told = told == null ? late : told;
    }
    assertThat(HostileProvider.device(name).mappingsAtClose()).as("mappings left").isZero();
    return told;
  }

  /**
   * Until the close, the program gets an error for every failure; failures during close are logged.
   */
  private void assertTold(int victim, CommandSabotage sabotage, String cause, HcrCommand... but) {
    VerbsException told = live(sabotage);
    assertThat(sabotage.isReached()).isTrue();
    if (victim < COMMANDS_OF_OPENING && !List.of(but).contains(sabotage.command())) {
      assertThat(told).isNotNull();
      assertThat(told.errno()).isEqualTo(Errno.EIO);
      assertThat(told).hasMessageContaining(cause);
    }
    assertRecovers();
  }

  @ParameterizedTest
  @MethodSource("commands")
  void commandThatNeverCompletesIsNamedAndEndsTheDevice(int victim) {
    CommandSabotage stuck =
        new CommandSabotage(victim) {
          @Override
          boolean given() {
            return false;
          }

          @Override
          public long read(int bar, long offset, int width, long honest) {
            return isReached() && isCommandDword(bar, offset) ? 1 << 23 : honest;
          }
        };
    assertTold(victim, stuck, name);
  }

  @ParameterizedTest
  @MethodSource("commands")
  void unknownStatusIsReportedWithItsNumber(int victim) {
    CommandSabotage garbage =
        new CommandSabotage(victim) {
          @Override
          public long read(int bar, long offset, int width, long honest) {
            return isAt() && isCommandDword(bar, offset)
                ? 0xc7L << 24 | honest & 0xff_ffff
                : honest;
          }
        };
    // a card without MAD_IFC is not a faulty card
    assertTold(victim, garbage, "0xc7", HcrCommand.MAD_IFC);
  }

  @ParameterizedTest
  @MethodSource("commands")
  void surpriseRemovalIsDetectedAtAnyCommand(int victim) {
    CommandSabotage gone =
        new CommandSabotage(victim) {
          @Override
          boolean given() {
            return false;
          }

          @Override
          public long read(int bar, long offset, int width, long honest) {
            return isReached() ? ALL_ONES : honest;
          }

          @Override
          public boolean dmaRead(MemorySegment bytes) {
            return !isReached();
          }

          @Override
          public boolean dmaWrite(long iova, MemorySegment bytes) {
            return !isReached();
          }
        };
    assertTold(victim, gone, "all ones");
  }

  @ParameterizedTest
  @MethodSource("commands")
  void resetDuringACommandIsNeverReportedAsSuccess(int victim) {
    CommandSabotage reset =
        new CommandSabotage(victim) {
          @Override
          boolean given() {
            HostileProvider.device(name).hca().reset();
            return false; // the card returns from its reset without the command
          }
        };
    assertTold(victim, reset, name);
  }

  @ParameterizedTest
  @MethodSource("commands")
  void outboxOverwrittenLateAffectsNothingElse(int victim) {
    byte[] garbage = new byte[192];
    new SplittableRandom(victim).nextBytes(garbage);
    long[] outbox = new long[1];
    CommandSabotage late =
        new CommandSabotage(victim) {
          @Override
          public boolean write(int bar, long offset, int width, long value) {
            if (isReached() && bar == Bar.BAR0 && outbox[0] != 0) {
              HostileProvider.device(name).write(outbox[0], garbage);
            }
            long inHcr = offset - HardwareProfile.S.hcrBase();
            if (bar == Bar.BAR0 && inHcr == Hcr.OUT_PARAM_LOW && value != 0) {
              outbox[0] = value;
            }
            return super.write(bar, offset, width, value);
          }
        };
    VerbsException told = live(late);
    if (told != null) {
      assertThat(told.errno()).isIn(Errno.EIO, Errno.EINVAL, Errno.ENOMEM);
    }
    assertRecovers();
  }

  // ---- completions

  /** Changes completions: 32-byte writes while no command is in progress. */
  private static Sabotage completions(Consumer<MemorySegment> change) {
    return new Sabotage() {
      @Override
      public boolean dmaWrite(long iova, MemorySegment bytes) {
        if (bytes.byteSize() == Cqe.SIZE) {
          change.accept(bytes);
        }
        return true;
      }
    };
  }

  static Stream<Consumer<MemorySegment>> impossibleCompletions() {
    IntFunction<Consumer<MemorySegment>> qpn =
        number -> cqe -> cqe.set(ValueLayout.JAVA_INT, 0x00, number);
    return Stream.of(
        qpn.apply(0xff_ffff),
        qpn.apply(-1),
        qpn.apply(0x7fff),
        cqe -> cqe.fill((byte) 0),
        cqe -> cqe.set(ValueLayout.JAVA_INT, 0x18, 0x7fff_fff0), // WQE
        cqe -> cqe.set(ValueLayout.JAVA_INT, 0x18, 3));
  }

  @ParameterizedTest
  @MethodSource("impossibleCompletions")
  void completionWithoutARequestEndsTheDevice(Consumer<MemorySegment> change) {
    Victim victim = Victim.open(name);
    victim.device().turn(completions(change));
    victim.send();
    VerbsException told =
        catchThrowableOfType(
            VerbsException.class,
            () -> {
              Completions room = new Completions(4);
              for (int i = 0; i < 8; i++) {
                victim.queue.poll(room);
              }
            });
    assertThat(told).isNotNull();
    assertThat(told.errno()).isEqualTo(Errno.EIO);
    assertThat(told).hasMessageContaining(name);
    assertThat(told.getMessage()).containsAnyOf("fits no request", "a completion of zeros");
    victim.closeAll();
    assertThat(victim.device().mappingsAtClose()).isZero();
    assertRecovers();
  }

  @ParameterizedTest
  @ValueSource(ints = {0x00, 0x07, 0x17, 0x25, 0x7f, 0xff})
  void unknownSyndromeIsAGeneralError(int syndrome) {
    Victim victim = Victim.open(name);
    victim
        .device()
        .turn(
            completions(
                cqe -> {
                  if (cqe.get(ValueLayout.JAVA_BYTE, 0x1d) == 1) {
                    cqe.set(ValueLayout.JAVA_BYTE, 0x1c, (byte) 0xff);
                    cqe.set(ValueLayout.JAVA_INT, 0x10, 0xb2 << 8 | syndrome);
                  }
                }));
    victim.send();
    Completions completions = new Completions(4);
    int count = victim.queue.poll(completions);
    assertThat(count).isEqualTo(2);
    int send = completions.wrId(0) == 2 ? 0 : 1;
    assertThat(completions.status(send)).isEqualTo(WcStatus.GENERAL_ERR);
    assertThat(completions.vendorError(send)).isEqualTo(0xb2);
    assertThat(completions.vendorError(1 - send)).isZero();
    victim.device().turn(Sabotage.NONE);
    victim.close();
    assertRecovers();
  }

  @Test
  void randomCompletionsNeverCrashAProgram() {
    for (long seed = 0; seed < 200; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      Victim victim = Victim.open(name);
      victim
          .device()
          .turn(
              completions(
                  cqe -> {
                    for (int n = random.nextInt(4); n >= 0; n--) {
                      cqe.set(
                          ValueLayout.JAVA_BYTE,
                          random.nextInt(Cqe.SIZE),
                          (byte) random.nextInt(256));
                    }
                  }));
      try {
        tryToExchange(victim);
      } catch (VerbsException e) {
        assertThat(e.errno())
            .as("seed %d: %s", seed, e)
            .isIn(Errno.EIO, Errno.ENOMEM, Errno.EINVAL);
      }
      victim.closeAll();
      assertThat(victim.device().mappingsAtClose()).as("seed %d", seed).isZero();
    }
    assertRecovers();
  }

  /** Programs receive errors; a read that did not happen at all cannot go undetected. */
  @ParameterizedTest
  @ValueSource(doubles = {0.02, 0.2, 1})
  void refusedDmaNeverHangsAProgram(double rate) {
    for (long seed = 0; seed < 50; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      VerbsException told =
          live(
              new Sabotage() {
                @Override
                public boolean dmaRead(MemorySegment bytes) {
                  return random.nextDouble() >= rate;
                }
              },
              HostileDeviceTest::tryToExchange);
      assertThat(told != null || rate < 1).as("seed %d", seed).isTrue();
    }
    assertRecovers();
  }

  /** Sends messages and polls for completions, whatever the results are. */
  private static void tryToExchange(Victim victim) {
    Completions room = new Completions(3);
    for (int i = 0; i < 4; i++) {
      victim.send();
      for (int j = 0; j < 3; j++) {
        victim.queue.poll(room);
      }
    }
  }
}
