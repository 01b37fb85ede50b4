package org.hghca.model.transport;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FlowEntropyTest {

  /** The values are those of the proposal's lines in another language. */
  @ParameterizedTest
  @CsvSource({
    "1, 1, 0x00001, 0xc001",
    "0x11, 0x12, 0x00132, 0xc132",
    "0x123456, 0xabcdef, 0xac3e3, 0xc3c8",
    "0xffffff, 0xffffff, 0xfff1e, 0xff21"
  })
  void labelAndPortAreThoseOfTheSecondProposal(
      String one, String other, String label, String port) {
    int local = Integer.decode(one);
    int remote = Integer.decode(other);
    assertThat(FlowEntropy.label(local, remote)).isEqualTo(Integer.decode(label));
    assertThat(FlowEntropy.label(remote, local)).isEqualTo(Integer.decode(label));
    assertThat(FlowEntropy.port(FlowEntropy.label(local, remote))).isEqualTo(Integer.decode(port));
  }

  @ParameterizedTest
  @CsvSource({
    "0x000011, 0x000012, 0xc003",
    "0x120034, 0x00ff00, 0xff26",
    "0x000012, 0x000012, 0xc012",
    "0x340012, 0xffffff, 0xc026"
  })
  void portsOfTheFirstProposalAreTheExclusiveOrOfTheFoldedNumbers(
      String local, String remote, String port) {
    assertThat(FlowEntropy.firstPort(Integer.decode(local), Integer.decode(remote)))
        .isEqualTo(Integer.decode(port));
  }
}
