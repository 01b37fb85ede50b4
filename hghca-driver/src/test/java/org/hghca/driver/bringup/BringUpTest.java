package org.hghca.driver.bringup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.hghca.driver.Failures.assertErrno;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.ObjIntConsumer;
import org.hghca.abi.Bar;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.Hcr;
import org.hghca.abi.HcrCommand;
import org.hghca.driver.object.FailingFunction;
import org.hghca.driver.object.HghcaDevice;
import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;
import org.hghca.vfio.ConfigurationSpace;
import org.hghca.vfio.ForwardingFunction;
import org.hghca.vfio.Locator;
import org.hghca.vfio.MemorySource;
import org.hghca.vfio.MmioHandler;
import org.hghca.vfio.MmioRegion;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.PciFunctions;
import org.hghca.vfio.memory.BufferPool;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Whichever step of the bring-up fails: the card is released and nothing stays mapped. */
class BringUpTest {
  private static final Locator LOCATOR = Locator.parse("model:bring-up?mode=inline");

  private static HghcaDevice bringUp(FailingFunction function) {
    return BringUp.of(function);
  }

  @Test
  void failedCommandLeavesNothingBehind() {
    int failed =
        failAtEachStep(
            FailingFunction::failCommand,
            e -> {
              assertThat(e.errno()).isEqualTo(Errno.EIO);
              assertThat(e).hasMessageContaining("cannot bring up model:bring-up");
            });
    // At least QUERY_DEV_LIM, QUERY_ADAPTER and INIT_HCA.
    assertThat(failed).isGreaterThanOrEqualTo(3);
  }

  @ParameterizedTest
  @CsvSource({
    "model:x, PT10S",
    "model:x?slow=1000, PT10000S",
    "model:x?slow=1000&limit=PT60S, PT60S",
    "model:x?limit=PT0.5S, PT0.5S"
  })
  void commandHasTenSecondsOfTheCardsTimeByDefault(String locator, Duration limit) {
    assertThat(BringUp.commandLimit(Locator.parse(locator))).isEqualTo(limit);
  }

  @Test
  void invalidTimeScaleIsRefused() {
    FailingFunction function =
        new FailingFunction(PciFunctions.open(Locator.parse("model:scale?mode=inline&slow=0")));
    assertErrno(Errno.EINVAL, () -> bringUp(function))
        .hasMessageContaining("slow=0 must be a whole number");
    assertGivenBack(function);
  }

  @Test
  void buffersUseMemoryThatTheFunctionReachesBest() {
    AtomicLong given = new AtomicLong();
    PciFunction function =
        new ForwardingFunction(PciFunctions.open(LOCATOR)) {
          @Override
          public MemorySource memory() {
            return (arena, bytes) -> {
              given.addAndGet(bytes);
              return super.memory().allocate(arena, bytes);
            };
          }
        };
    HghcaDevice device = BringUp.of(function);
    try (BufferPool.Buffer buffer = device.buffers().allocate(5000)) {
      assertThat(buffer.segment().byteSize()).isEqualTo(5000);
      assertThat(given).hasValue(8192);
    } finally {
      device.close();
    }
  }

  @Test
  void failedAllocationLeavesNothingBehind() {
    int failed =
        failAtEachStep(
            FailingFunction::failAllocation, e -> assertThat(e.errno()).isEqualTo(Errno.ENOMEM));
    assertThat(failed).isPositive();
  }

  @Test
  void errorOfThePlatformReleasesTheCard() {
    FailingFunction function = new FailingFunction(PciFunctions.open(LOCATOR));
    function.onCommand(
        () -> {
          throw new StackOverflowError("stands for any error of the platform");
        });
    assertThatThrownBy(() -> bringUp(function)).isInstanceOf(StackOverflowError.class);
    assertThat(function.isClosed()).isTrue();
    assertThat(function.busMasterAtClose()).isFalse();
    // The mailbox of the hung command stays mapped until the function is closed.
    assertThat(function.mappingsAtClose()).isLessThanOrEqualTo(1);
  }

  /**
   * Brings functions up, each of which fails one step later, until one does not.
   *
   * @return the number of failures
   */
  private static int failAtEachStep(
      ObjIntConsumer<FailingFunction> failing, Consumer<VerbsException> check) {
    for (int step = 0; ; step++) {
      FailingFunction function = new FailingFunction(PciFunctions.open(LOCATOR));
      failing.accept(function, step);
      HghcaDevice device;
      try {
        device = bringUp(function);
      } catch (VerbsException e) {
        check.accept(e);
        assertGivenBack(function);
        continue;
      }
      device.close();
      assertGivenBack(function);
      return step;
    }
  }

  private static void assertGivenBack(FailingFunction function) {
    assertThat(function.isClosed()).isTrue();
    assertThat(function.mappingsAtClose()).isZero();
    assertThat(function.busMasterAtClose()).isFalse();
  }

  @Test
  void cardThatCannotBeResetIsReleasedWithItsMemoryMapped() {
    FailingFunction function = new FailingFunction(PciFunctions.open(LOCATOR));
    HghcaDevice device = bringUp(function);
    device.queueMemory().register(4096, 1, 0);
    function.failReset();
    assertThatThrownBy(device::close).hasMessageContaining("the reset failed");
    assertThat(function.isClosed()).isTrue();
    assertThat(function.busMasterAtClose()).isFalse();
    // Its queue, and the tables that contain the queue's address.
    assertThat(function.mappingsAtClose()).isGreaterThan(1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"as=z", "hcr=no", "assumeClean=1"})
  void invalidParameterIsRefusedBeforeTheCardIsAccessed(String parameter) {
    FailingFunction function =
        new FailingFunction(PciFunctions.open(LOCATOR), Locator.parse("model:x?" + parameter));
    assertErrno(Errno.EINVAL, () -> bringUp(function)).hasMessageContaining(parameter);
    assertThat(function.isClosed()).isTrue();
  }

  /** The driver does not use the software HCA's own setting: it detects the profile. */
  @Test
  void profileOfTheSoftwareHcaIsNotRead() {
    FailingFunction function =
        new FailingFunction(PciFunctions.open(LOCATOR), Locator.parse("model:x?profile=r2"));
    HghcaDevice device = bringUp(function);
    assertThat(device.card().limits().profile()).isEqualTo(HardwareProfile.S);
    device.close();
  }

  private static List<String> afterLast(String what, List<String> history) {
    int last = -1;
    for (int i = 0; i < history.size(); i++) {
      last = history.get(i).startsWith(what) ? i : last;
    }
    return history.subList(last + 1, history.size());
  }

  /** Memory is unmapped only when the card cannot reach it any more. */
  private static void assertEndsInOrder(List<String> history) {
    List<String> end = afterLast("command", history);
    if (history.contains("bus master on")) {
      assertThat(end).startsWith("bus master off", "reset");
    }
    assertThat(end.subList(Math.min(2, end.size() - 1), end.size() - 1)).allMatch("unmap"::equals);
    assertThat(end).last().isEqualTo("close");
  }

  @Test
  void cardReachesMemoryOnlyBetweenTwoResets() {
    FailingFunction function = new FailingFunction(PciFunctions.open(LOCATOR));
    HghcaDevice device = bringUp(function);
    List<String> history = function.history();
    assertThat(history).startsWith("reset", "bus master on");
    assertThat(history.indexOf("bus master on") + 1)
        .isEqualTo(history.indexOf("command 0x%02x".formatted(HcrCommand.QUERY_DEV_LIM.code())));
    device.close();
    history = function.history();
    assertEndsInOrder(history);
    // Each reset takes a card 100 ms and more.
    assertThat(history.stream().filter("reset"::equals)).hasSize(2);
  }

  @Test
  void failedBringUpDisablesBusMasteringBeforeMemoryIsUnmapped() {
    boolean failed = true;
    for (int command = 0; failed; command++) {
      FailingFunction function = new FailingFunction(PciFunctions.open(LOCATOR));
      function.failCommand(command);
      HghcaDevice device = null;
      try {
        device = bringUp(function);
      } catch (VerbsException e) {
        assertThat(function.history()).as("command %d: %s", command, e).contains("close");
      }
      failed = device == null;
      if (!failed) {
        device.close();
      }
      assertEndsInOrder(function.history());
    }
  }

  /** A killed owner leaves the card as it was: after INIT_HCA, with bus mastering enabled. */
  @ParameterizedTest
  @ValueSource(strings = {"s", "r1", "r2"})
  void runningCardIsResetFirst(String profile) {
    String locator = "model:killed?mode=inline&profile=" + profile;
    PciFunction card = PciFunctions.open(Locator.parse(locator));
    PciFunction kept =
        new ForwardingFunction(card) {
          @Override
          public void close() {
            // stays as it is
          }
        };
    FailingFunction killed = new FailingFunction(kept);
    int hcr = HardwareProfile.byName(profile).hcrBase();
    HghcaDevice left = bringUp(killed);
    left.queueMemory().register(4096, 1, 0);
    killed.lose();
    left.close();
    assertThat(card.configuration().read(ConfigurationSpace.COMMAND, 2))
        .isEqualTo(ConfigurationSpace.COMMAND_MEMORY_SPACE | ConfigurationSpace.COMMAND_BUS_MASTER);
    // A command of the previous owner is in progress, with an unmapped mailbox.
    card.region(0).writeInt(hcr + Hcr.OUT_PARAM_LOW, 0x7000_0000);
    card.region(0).writeInt(hcr + Hcr.COMMAND, Hcr.command(HcrCommand.QUERY_DEV_LIM.code(), 0));

    FailingFunction function = new FailingFunction(card);
    HghcaDevice device = bringUp(function);
    assertThat(function.history()).startsWith("bus master off", "reset");
    assertThat(device.card().limits().profile().name()).isEqualTo(profile);
    device.queueMemory().register(4096, 1, 0).close();
    device.close();
    assertGivenBack(function);
  }

  /** A hung command: go stays set until the reset. */
  @Test
  void hungCommandIsEndedByTheResetOfTheNextOwner() {
    FailingFunction card = new FailingFunction(PciFunctions.open(LOCATOR));
    boolean[] hangs = {true};
    PciFunction hanging =
        new ForwardingFunction(card) {
          @Override
          public MmioRegion region(int bar) {
            MmioRegion region = super.region(bar);
            return MmioRegion.trapped(
                region.size(),
                new MmioHandler() {
                  @Override
                  public long read(long offset, int width) {
                    int value = region.readInt(offset);
                    boolean isCommand = offset == Bar.HCR_DOCUMENT + Hcr.COMMAND;
                    return hangs[0] && isCommand ? value | 1 << 23 : value;
                  }

                  @Override
                  public void write(long offset, int width, long value) {
                    if (width == Long.BYTES) {
                      region.writeLong(offset, value);
                    } else {
                      region.writeInt(offset, (int) value);
                    }
                  }
                });
          }

          @Override
          public void reset() {
            hangs[0] = false;
            super.reset();
          }
        };
    BringUp.of(hanging).close();
    assertGivenBack(card);
  }
}
