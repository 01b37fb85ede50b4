package org.hghca.conformance.interop;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.hghca.conformance.interop.Pair.Asker;
import org.hghca.verbs.Mtu;
import org.hghca.verbs.QpType;
import org.hghca.verbs.WcStatus;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ArgumentsSource;

@WithEachCard
@DisplayName("UC")
class UnreliableConnectionTest {
  private static final long BYTES = 1 << 17;
  private static final int IMMEDIATE = 0x8badf00d;

  private Bench bench;

  @BeforeEach
  void take(Bench itsBench) {
    bench = itsBench;
  }

  @ParameterizedTest(name = "SEND and WRITE, with and without immediate, {0}, {1}")
  @ArgumentsSource(EveryMtu.class)
  void messages(Mtu mtu, Asker asker) {
    try (Pair pair = Pair.connect(bench, QpType.UC, mtu, BYTES)) {
      End from = pair.end(asker);
      End to = pair.other(asker);
      int wr = 0;
      for (int size : EveryMtu.sizes(mtu)) {
        from.fill(0, size, ++wr);
        to.receive(wr, 0, size + 1L);
        from.send(Work.sendImmediate(wr, 0, size, IMMEDIATE));
        Result message = completed(to);
        assertThat(message.opcode()).isEqualTo(Result.RECV);
        assertThat(message.bytes()).isEqualTo(size);
        assertThat(message.immediate()).isEqualTo(IMMEDIATE);
        assertThat(to.differs(0, size, wr)).as("%d bytes", size).isEqualTo(-1);
        completed(from);

        // What follows a WRITE in order has arrived after it.
        from.fill(0, size, ++wr);
        from.send(Work.write(wr, 0, size, to.address() + wr, to.rkey()));
        completed(from);
        to.receive(wr, 0, 0);
        from.send(
            Work.writeImmediate(
                wr, 0, size, to.address() + BYTES / 2 + wr, to.rkey(), IMMEDIATE + wr));
        Result written = completed(to);
        assertThat(written.opcode()).isEqualTo(Result.RECV_RDMA_WITH_IMM);
        assertThat(written.bytes()).isEqualTo(size);
        assertThat(written.immediate()).isEqualTo(IMMEDIATE + wr);
        assertThat(to.differs(wr, size, wr)).as("%d bytes", size).isEqualTo(-1);
        assertThat(to.differs(BYTES / 2 + wr, size, wr)).as("%d bytes", size).isEqualTo(-1);
        completed(from);
      }
    }
  }

  private static Result completed(End end) {
    List<Result> results = end.poll(1);
    assertThat(results).hasSize(1);
    assertThat(results.getFirst().status()).isEqualTo(WcStatus.SUCCESS);
    return results.getFirst();
  }
}
