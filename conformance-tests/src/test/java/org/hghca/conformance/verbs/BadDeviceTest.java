package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.hghca.conformance.verbs.Failures.assertErrno;

import org.hghca.verbs.Context;
import org.hghca.verbs.Errno;
import org.hghca.verbs.RdmaDevices;
import org.hghca.verbs.VerbsException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Names and locators of devices that cannot be opened. */
class BadDeviceTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          hghca99                                    | ENODEV     | hghca99
          nonsense                                   | ENODEV     | nonsense
          ''                                         | ENODEV     | no RDMA device
          pci:0000:ff:1f.7                           | ENODEV     | 0000:ff:1f.7
          martian:x                                  | ENODEV     | martian
          model:x?colour=red                         | EINVAL     | colour
          model:x?mode=warp                          | EINVAL     | mode=warp
          model:x?reset=never                        | EINVAL     | reset=never
          model:x?profile=r9                         | EINVAL     | r9
          model:x?mac=zz                             | EINVAL     | mac
          model:x?ip=1.2.3                           | EINVAL     | ip
          model:x?sim=nobody                         | ENODEV     | nobody
          """)
  void eachErrorNamesTheInvalidPart(String name, Errno errno, String word) {
    assertErrno(errno, () -> RdmaDevices.open(name), word);
  }

  @Test
  void thirdHcaOnACableIsRefused() {
    try (Fabric fabric = Fabric.inline()) {
      String left = fabric.left().device().locator();
      assertErrno(Errno.EBUSY, () -> RdmaDevices.open(left.replace("-left", "-third")), "cable");
    }
  }

  @Test
  void deviceThatFailedToOpenCanBeOpenedAfterwards() {
    try (Fabric fabric = Fabric.inline()) {
      String third = fabric.left().device().locator().replace("-left", "-third");
      for (int i = 0; i < 3; i++) {
        assertThatThrownBy(() -> RdmaDevices.open(third)).isInstanceOf(VerbsException.class);
      }
      String elsewhere = third.replaceFirst("cable=", "cable=other-");
      try (Context context = RdmaDevices.open(elsewhere)) {
        context.queryDevice();
      }
    }
  }
}
