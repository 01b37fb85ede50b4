package org.hghca.programs;

import static org.assertj.core.api.Assertions.assertThat;

import org.hghca.verbs.Gid;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class Ipv6TextTest {

  @ParameterizedTest
  @CsvSource({
    "fe80000000000000000000fffe000001, fe80::ff:fe00:1",
    "00000000000000000000ffff0a000001, ::ffff:10.0.0.1",
    "00000000000000000000ffffc0a8ff02, ::ffff:192.168.255.2",
    "00000000000000000000000000000000, ::",
    "00000000000000000000000000000001, ::1",
    "20010db8000000000000000000000000, 2001:db8::",
    "20010db8000000010001000100010001, 2001:db8:0:1:1:1:1:1",
    "20010000000000010000000000000001, 2001:0:0:1::1",
    "20010000000000010000000000010001, 2001::1:0:0:1:1",
    "20010db8111122223333444455556666, 2001:db8:1111:2222:3333:4444:5555:6666"
  })
  void textIsThatOfInetNtop(String gid, String text) {
    assertThat(Ipv6Text.of(Gid.ofHex(gid))).isEqualTo(text);
  }
}
