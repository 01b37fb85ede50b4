package org.hghca.conformance.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.hghca.vfio.GiveWay;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a process knows of the processors that it may use. */
class OneProcessorTest {
  /** Prints how often a thread looks before it gives way. */
  public static final class Looks {
    private Looks() {}

    /** Prints it. */
    public static void main(String[] arguments) {
      System.out.print(GiveWay.looks(200));
    }
  }

  @ParameterizedTest
  @CsvSource({"1,1", "2,200"})
  void aThreadLooksOnceWhereNobodyElseCanRun(int processors, String looks) {
    OtherJvm.Ended ended =
        OtherJvm.run(List.of("-XX:ActiveProcessorCount=" + processors), Looks.class);
    assertThat(ended.said()).isEqualTo(looks);
  }
}
