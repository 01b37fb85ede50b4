package org.hghca.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.hghca.abi.HcrCommand;
import org.hghca.abi.MulticastGroup;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The table of multicast groups with a minimal driver. */
class MulticastGroupsTest {
  private static final int OK = 0;
  private static final int BAD_PARAM = 3;
  private static final long GROUP = 0xffff_ef01_0203L;
  private static final long OTHER = 0xffff_ef01_0204L;
  private static final long UNICAST = 0xffff_0a00_0001L;

  private final Host host = Host.open("model:groups?mode=inline&cable=groups").bringUp();

  @AfterEach
  void close() {
    host.close();
  }

  private int write(int index, long gid, Integer... queuePairs) {
    new MulticastGroup(0, gid, List.of(queuePairs)).encode(host.in());
    return host.command(HcrCommand.WRITE_MGM, 0, index);
  }

  private MulticastGroup read(int index) {
    host.must(HcrCommand.READ_MGM, 0, index);
    return MulticastGroup.decode(host.out());
  }

  @Test
  void groupIsReadBackAsWritten() {
    assertThat(write(3, GROUP, 7, 9)).isEqualTo(OK);
    assertThat(read(3)).isEqualTo(new MulticastGroup(0, GROUP, List.of(7, 9)));
    assertThat(write(3, GROUP, 9)).isEqualTo(OK);
    assertThat(read(3)).isEqualTo(new MulticastGroup(0, GROUP, List.of(9)));
    assertThat(read(4)).isEqualTo(new MulticastGroup(0, 0, List.of()));
    assertThat(write(3, GROUP)).isEqualTo(OK);
    assertThat(read(3)).isEqualTo(new MulticastGroup(0, 0, List.of()));
  }

  @Test
  void indexBeyondTheTableIsRefused() {
    assertThat(write(1023, GROUP, 7)).isEqualTo(OK);
    assertThat(write(1024, OTHER, 7)).isEqualTo(BAD_PARAM);
    assertThat(write(-1, OTHER, 7)).isEqualTo(BAD_PARAM);
    assertThat(host.command(HcrCommand.READ_MGM, 0, 1024)).isEqualTo(BAD_PARAM);
  }

  @Test
  void addressIsAtOneIndexAndMustBeAGroup() {
    assertThat(write(1, UNICAST, 7)).isEqualTo(BAD_PARAM);
    assertThat(write(1, GROUP, 7)).isEqualTo(OK);
    assertThat(write(2, GROUP, 7)).isEqualTo(BAD_PARAM);
    assertThat(write(1, OTHER, 7)).isEqualTo(OK); // GROUP is free again
    assertThat(write(2, GROUP, 7)).isEqualTo(OK);
    assertThat(write(3, GROUP)).as("one that is free has no address").isEqualTo(OK);
    assertThat(read(2)).isEqualTo(new MulticastGroup(0, GROUP, List.of(7)));
  }

  @Test
  void allGroupsFitAndAResetFreesThem() {
    for (int index = 0; index < MulticastGroup.GROUPS; index++) {
      assertThat(write(index, 0xffff_e100_0000L + index, index)).isEqualTo(OK);
    }
    for (int index = 0; index < MulticastGroup.GROUPS; index++) {
      assertThat(read(index).queuePairs()).containsExactly(index);
    }
    host.must(HcrCommand.CLOSE_HCA, 0, 0);
    host.bringUp();
    assertThat(read(5)).isEqualTo(new MulticastGroup(0, 0, List.of()));
    assertThat(write(9, 0xffff_e100_0005L, 1)).isEqualTo(OK);
  }
}
