package org.hghca.driver.bringup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.driver.Failures.assertErrno;

import java.lang.foreign.MemorySegment;
import java.util.HexFormat;
import java.util.Optional;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.hghca.abi.DeviceLimits;
import org.hghca.abi.HardwareProfile;
import org.hghca.driver.bringup.Recognition.Place;
import org.hghca.driver.bringup.StrangeFunction.Access;
import org.hghca.verbs.Errno;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RecognitionTest {
  private static final long RTL = 0x0;
  private static final long DOCUMENT = 0x80000;

  /** The first RTL's answer to QUERY_DEV_LIM. */
  private static final String DEV_LIM =
      "0100000000000000000d000d0e0d050e0c000001000800000100008000400040"
          + "005000f1000c0000001002000010020012345678876500000000000000000000";

  private StrangeFunction function = new StrangeFunction("");

  private Place find() {
    Recognition recognition = new Recognition(function);
    recognition.checkConfiguration();
    return recognition.findHcr();
  }

  private void locator(String parameters) {
    function = new StrangeFunction(parameters);
  }

  private static DeviceLimits limits(int qpsLog, int cqsLog) {
    byte[] bytes = HexFormat.of().parseHex(DEV_LIM);
    bytes[0x0c] = (byte) qpsLog;
    bytes[0x0d] = (byte) cqsLog;
    return DeviceLimits.decode(MemorySegment.ofArray(bytes));
  }

  private static void assertRefused(ThrowingCallable call, Errno errno, String... parts) {
    assertErrno(errno, call).hasMessageContaining("strange:card").hasMessageContainingAll(parts);
  }

  /** In all cases: registers are accessed by aligned 32-bit accesses, doorbells not at all. */
  @AfterEach
  void onlyDwordsOfBar0AreTouched() {
    assertThat(function.accesses)
        .allMatch(a -> a.bar() == 0 && a.width() == 4 && a.offset() % 4 == 0);
  }

  // ---- location of the HCR

  @Test
  void hcrAt0IsOfTheRtlAndTheForbiddenRangeIsNotAccessed() {
    function.withHcr(RTL).withHcr(DOCUMENT);

    assertThat(find()).isEqualTo(new Place(RTL, Optional.empty()));

    assertThat(function.touchedForbidden()).isFalse();
    assertThat(function.accesses)
        .containsExactly(
            new Access(0, false, 0x18, 4),
            new Access(0, true, 0x14, 4),
            new Access(0, false, 0x14, 4),
            new Access(0, true, 0x14, 4),
            new Access(0, false, 0x14, 4));
  }

  @Test
  void withoutAnHcrAt0TheOneOfTheDocumentIsFound() {
    function.withHcr(DOCUMENT);

    assertThat(find()).isEqualTo(new Place(DOCUMENT, Optional.of(HardwareProfile.S)));

    int first = function.accesses.indexOf(new Access(0, false, DOCUMENT + 0x18, 4));
    assertThat(first).isPositive();
    assertThat(function.accesses.subList(0, first)).allMatch(a -> a.offset() < 0x1c);
  }

  @Test
  void tokenStuckAtTheFirstPatternIsNoHcr() {
    function.tokenMask = 0x5aa5_0000;
    function.withHcr(RTL);

    assertRefused(this::find, Errno.ENODEV, "BAR0 + 0x0 is not an HCR", "0xa55a0000", "0x00000000");
  }

  @Test
  void allOnesMeanThatTheDeviceIsGone() {
    function.allOnes = true;

    assertRefused(this::find, Errno.ENODEV, "BAR0 + 0x0 reads all ones", "as=s");

    assertThat(function.wrote()).isFalse();
    assertThat(function.touchedForbidden()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void deviceRemovedDuringTheProbeIsGoneAndTheProbeEnds(int stores) {
    function.withHcr(RTL).dies = stores;

    assertRefused(this::find, Errno.ENODEV, "BAR0 + 0x0 reads all ones");

    assertThat(function.touchedForbidden()).isFalse();
  }

  @Test
  void busyHcrIsNotWrittenAndTheProbeEnds() {
    function.withHcr(RTL).registers.put(RTL + 0x18, 0x0080_0031);

    assertRefused(
        this::find, Errno.EBUSY, "0x00800031", "busy or hung, reset the card", "hcr=0x80000");

    assertThat(function.wrote()).isFalse();
    assertThat(function.touchedForbidden()).isFalse();
  }

  @Test
  void busyHcrOfTheDocumentIsNotWrittenEither() {
    function.withHcr(DOCUMENT).registers.put(DOCUMENT + 0x18, 0x0080_0031);

    assertRefused(this::find, Errno.EBUSY, "BAR0 + 0x80000 has a command in progress");

    assertThat(function.accesses).noneMatch(a -> a.write() && a.offset() >= DOCUMENT);
  }

  @Test
  void functionWithoutAnyHcrIsDescribedWithTheFixes() {
    assertRefused(
        this::find,
        Errno.ENODEV,
        "10ee:9038 of class 0x020700",
        "0x100000 bytes in BAR0 and 0x800000 in BAR2",
        "BAR0 + 0x0 is not an HCR: its token register got 0x5aa50000 and reads 0x00000000",
        "BAR0 + 0x80000 is not an HCR",
        "as=s, as=r1 or as=r2",
        "hcr=0x80000");
  }

  @Test
  void smallBar0HasNoHcrOfTheDocument() {
    function.bar0 = 0x10000;

    assertRefused(this::find, Errno.ENODEV, "BAR0 + 0x80000 lies outside its region");
  }

  // ---- configuration space

  @Test
  void configurationSpaceOfAllOnesIsADeadLink() {
    function.vendor = 0xffff;

    assertRefused(this::find, Errno.ENODEV, "gone, or its link is down");
    assertThat(function.accesses).isEmpty();
  }

  @Test
  void functionTooSmallForTheCommandRegisterIsNotAccessed() {
    function.bar0 = 16;

    assertRefused(this::find, Errno.ENODEV, "BAR0 does not hold a command register at 0x0");
    assertThat(function.accesses).isEmpty();
  }

  @Test
  void functionWithoutBar0IsNotAccessed() {
    function.bar0 = 0;

    assertRefused(this::find, Errno.ENODEV, "BAR0 does not hold", "0x0 bytes in BAR0");
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 2048})
  void functionWithoutDoorbellsIsNotAccessed(long size) {
    function.bar2 = size;
    function.withHcr(RTL);

    assertRefused(this::find, Errno.ENODEV, "BAR2 does not hold a page of doorbells");
    assertThat(function.accesses).isEmpty();
  }

  @Test
  void functionThatDoesNotDecodeMemoryIsNotAccessed() {
    function.keepsMemorySpace = false;
    function.withHcr(RTL);

    assertRefused(this::find, Errno.ENODEV, "memory space bit");
    assertThat(function.accesses).isEmpty();
  }

  // ---- parameters of the user

  @ParameterizedTest
  @ValueSource(strings = {"?as=s", "?hcr=0x80000", "?hcr=0x400&as=r1", "?as=s&hcr=0x400"})
  void offsetThatTheRtlContradictsIsRefusedBeforeAnAccess(String parameters) {
    locator(parameters);
    function.withHcr(RTL).withHcr(0x400).withHcr(DOCUMENT);

    assertRefused(this::find, Errno.EINVAL, "it is at 0x0", "leave out", "assumeProfile=true");
    assertThat(function.accesses).allMatch(a -> a.offset() < 0x1c);
  }

  @ParameterizedTest
  @ValueSource(strings = {"?as=s", "?hcr=0x80000"})
  void namedOffsetIsUsedWhereNothingIsAt0(String parameters) {
    locator(parameters);
    function.withHcr(DOCUMENT);

    assertThat(find()).isEqualTo(new Place(DOCUMENT, Optional.of(HardwareProfile.S)));
    assertThat(function.accesses.getFirst()).isEqualTo(new Access(0, false, 0x18, 4));
  }

  @Test
  void namedOffsetIsNotAccessedWhereACardIsBusyAt0() {
    locator("?as=s");
    function.withHcr(DOCUMENT).withHcr(RTL).registers.put(RTL + 0x18, 0x0080_0031);

    assertRefused(this::find, Errno.EBUSY, "busy or hung");
    assertThat(function.touchedForbidden()).isFalse();
  }

  @Test
  void assumedProfileIsNotProbedAt0() {
    locator("?as=s&assumeProfile=true");
    function.withHcr(RTL).withHcr(DOCUMENT);

    assertThat(find()).isEqualTo(new Place(DOCUMENT, Optional.of(HardwareProfile.S)));
    assertThat(function.accesses).allMatch(a -> a.offset() >= DOCUMENT);
  }

  @ParameterizedTest
  @ValueSource(strings = {"r1", "r2"})
  void cardGivenAsOfTheRtlIsNotProbedElsewhere(String name) {
    locator("?as=" + name);
    function.withHcr(DOCUMENT);

    assertRefused(this::find, Errno.ENODEV, "BAR0 + 0x0 is not an HCR", "as=s");
    assertThat(function.touchedForbidden()).isFalse();
  }

  @Test
  void onlyTheAssumedOffsetIsProbed() {
    locator("?hcr=0x80000&assumeProfile=true");
    function.withHcr(RTL).withHcr(DOCUMENT);

    assertThat(find()).isEqualTo(new Place(DOCUMENT, Optional.of(HardwareProfile.S)));
    assertThat(function.accesses).allMatch(a -> a.offset() >= DOCUMENT);
  }

  @Test
  void offsetOfTheRtlLeavesTheProfileToDevLim() {
    locator("?hcr=0");
    function.withHcr(RTL);

    assertThat(find()).isEqualTo(new Place(RTL, Optional.empty()));
  }

  @Test
  void anyOffsetMayBeGivenTogetherWithTheProfile() {
    locator("?hcr=0x400&as=r1");
    function.withHcr(0x400);

    assertThat(find()).isEqualTo(new Place(0x400, Optional.of(HardwareProfile.R1)));
  }

  @Test
  void uncommonOffsetDoesNotDetermineTheProfile() {
    locator("?hcr=0x400");
    function.withHcr(0x400);

    assertRefused(this::find, Errno.EINVAL, "hcr=0x400", "as=r1");
    assertThat(function.accesses).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "?as=z, as=z, 's, r1 and r2'",
    "?as=, as=, 's, r1 and r2'",
    "?as=R1, as=R1, 's, r1 and r2'",
    "?hcr=here, hcr=here, multiple of 4",
    "?hcr=0x80002, hcr=0x80002, multiple of 4",
    "?hcr=-4, hcr=-4, offset in BAR0",
    "?hcr=0x100000, hcr=0x100000, offset in BAR0",
    "?assumeClean=yes, assumeClean=yes, true and false",
    "?assumeClean=, assumeClean=, true and false",
    "?as=s&assumeProfile=yes, assumeProfile=yes, true and false",
    "?assumeProfile=true, assumeProfile=true, as= or hcr="
  })
  void malformedParameterIsNamed(String parameters, String named, String fix) {
    locator(parameters);

    assertRefused(this::find, Errno.EINVAL, named, fix);
    assertThat(function.accesses).isEmpty();
  }

  // ---- old state

  @Test
  void rtlThatCannotBeResetIsRefused() {
    function.canReset = false;
    function.withHcr(RTL);

    assertRefused(
        this::find,
        Errno.EOPNOTSUPP,
        "the card may hold old queue positions: reload the bitstream",
        "assumeClean=true");
  }

  @Test
  void rtlDeclaredCleanNeedsNoReset() {
    locator("?assumeClean=true");
    function.canReset = false;
    function.withHcr(RTL);

    assertThat(find().isRtl()).isTrue();
  }

  @Test
  void cardOfTheDocumentNeedsNoReset() {
    function.canReset = false;
    function.withHcr(DOCUMENT);

    assertThat(find().isRtl()).isFalse();
  }

  // ---- the first RTL and the second

  private HardwareProfile profile(DeviceLimits limits) {
    return new Recognition(function).profile(new Place(RTL, Optional.empty()), limits);
  }

  @Test
  void devLimDistinguishesTheFirstRtlFromTheSecond() {
    assertThat(profile(limits(14, 13))).isEqualTo(HardwareProfile.R1);
    assertThat(profile(limits(8, 8))).isEqualTo(HardwareProfile.R2);
  }

  @ParameterizedTest
  @CsvSource({"8, 13", "14, 8", "16, 16", "0, 0"})
  void limitsOfNeitherAreRefused(int qpsLog, int cqsLog) {
    assertRefused(
        () -> profile(limits(qpsLog, cqsLog)),
        Errno.ENODEV,
        "2^%d queue pairs and 2^%d completion queues".formatted(qpsLog, cqsLog),
        "as=r1 or as=r2");
  }

  @ParameterizedTest
  @ValueSource(strings = {"r1", "r2"})
  void profileOfTheUserTakesPrecedenceOverDevLim(String name) {
    locator("?as=" + name);
    HardwareProfile named = HardwareProfile.byName(name);
    Place place = new Place(RTL, Optional.of(named));

    for (DeviceLimits limits : new DeviceLimits[] {limits(14, 13), limits(8, 8), limits(9, 9)}) {
      assertThat(new Recognition(function).profile(place, limits)).isEqualTo(named);
    }
  }
}
