package org.hghca.conformance.interop;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HexFormat;
import java.util.List;
import org.hghca.verbs.AddressHandle;
import org.hghca.verbs.AddressVector;
import org.hghca.verbs.Completions;
import org.hghca.verbs.Gid;
import org.hghca.verbs.QpType;
import org.hghca.verbs.WcStatus;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@WithEachCard
@DisplayName("UD")
class DatagramTest {
  private static final int[] SIZES = {0, 1, 3, 4, 1023, 1024, 4095, 4096};
  private static final int QKEY = 0x1234_5678;
  private static final int IMMEDIATE = 0x8badf00d;
  private static final int GRH = 40;
  private static final int BYTES = 16384;

  private Bench bench;
  private OurEnd ours;
  private GuestEnd guests;
  private Gid gid;

  @BeforeEach
  void open(Bench itsBench, GuestVerbs guest) {
    bench = itsBench;
    ours = new OurEnd(bench, QpType.UD, BYTES);
    guests = new GuestEnd(guest, QpType.UD, BYTES);
    gid = bench.context().queryGid(1, bench.ownGidIndex());
    ours.queuePair().activate(QKEY);
    guests.ask("activate", "qkey", QKEY);
    guest.ask("handle", "name", "ours", "gid", gid.hex());
  }

  @AfterEach
  void close() {
    bench.guest().ask("release", "handle", "ours");
    guests.close();
    ours.close();
  }

  private static Result one(End end) {
    List<Result> results = end.poll(1);
    assertThat(results).hasSize(1);
    assertThat(results.getFirst().status()).isEqualTo(WcStatus.SUCCESS);
    return results.getFirst();
  }

  @Test
  @DisplayName("SEND, with and without immediate, 0 to 4096 bytes, our requests")
  void ourDatagramsArrive() {
    try (AddressHandle handle =
        bench
            .domain()
            .createAddressHandle(AddressVector.to(bench.guestGid(), bench.ownGidIndex()))) {
      for (int size : SIZES) {
        for (int immediate : new int[] {0, IMMEDIATE}) {
          ours.fill(0, size, size);
          guests.zero(0, GRH);
          guests.receive(1, 0, GRH + size);
          Work work =
              immediate == 0 ? Work.send(2, 0, size) : Work.sendImmediate(2, 0, size, immediate);
          ours.send(work, handle, guests.qpn(), QKEY);
          one(ours);
          Result received = one(guests);
          assertThat(received.bytes()).isEqualTo(GRH + size);
          assertThat(received.immediate()).isEqualTo(immediate);
          assertThat(received.source()).isEqualTo(ours.queuePair().number());
          assertThat(received.flags() & Completions.GRH).isNotZero();
          assertThat(guests.differs(GRH, size, size)).as("%d bytes", size).isEqualTo(-1);
          String header = guests.bytes(20, 20);
          assertThat(header.substring(0, 2)).isEqualTo("45");
          assertThat(header.substring(24, 32)).isEqualTo(address(gid));
          assertThat(header.substring(32)).isEqualTo(address(bench.guestGid()));
        }
      }
    }
  }

  private static String address(Gid gid) {
    return HexFormat.of().toHexDigits(gid.ipv4().orElseThrow());
  }

  @Test
  @DisplayName("SEND, 0 to 4096 bytes, the guest's requests; the answer goes back by the header")
  void guestsDatagramsArriveAndAreAnswered() {
    for (int size : SIZES) {
      guests.fill(0, size, size);
      ours.receive(1, 0, GRH + size);
      guests.send(Work.sendImmediate(2, 0, size, IMMEDIATE), "ours", ours.number(), QKEY);
      one(guests);
      Completions received = ours.completed();
      assertThat(received.byteLength(0)).isEqualTo(GRH + size);
      assertThat(received.immediate(0)).isEqualTo(IMMEDIATE);
      assertThat(received.sourceQp(0)).isEqualTo(guests.qpn());
      assertThat(ours.differs(GRH, size, size)).as("%d bytes", size).isEqualTo(-1);
      guests.receive(3, 4096, GRH + size);
      try (AddressHandle back = bench.domain().createAddressHandle(received, 0, ours.header(), 1)) {
        assertThat(back.vector().destination()).isEqualTo(bench.guestGid());
        ours.send(Work.send(4, GRH, size), back, received.sourceQp(0), QKEY);
        one(ours);
      }
      assertThat(one(guests).bytes()).isEqualTo(GRH + size);
      assertThat(guests.differs(4096 + GRH, size, size)).as("%d bytes", size).isEqualTo(-1);
    }
  }

  @Test
  @DisplayName("a wrong Q_Key is dropped at either end")
  void wrongQkeyIsDropped() {
    try (AddressHandle handle =
        bench
            .domain()
            .createAddressHandle(AddressVector.to(bench.guestGid(), bench.ownGidIndex()))) {
      ours.receive(1, 0, BYTES);
      guests.receive(1, 0, BYTES);
      ours.send(Work.send(2, 0, 7), handle, guests.qpn(), QKEY + 1);
      ours.send(Work.send(3, 0, 8), handle, guests.qpn(), QKEY);
      assertThat(ours.poll(2)).hasSize(2);
      assertThat(one(guests).bytes()).isEqualTo(GRH + 8);
      guests.send(Work.send(2, 0, 7), "ours", ours.number(), QKEY + 1);
      guests.send(Work.send(3, 0, 8), "ours", ours.number(), QKEY);
      assertThat(guests.poll(2)).hasSize(2);
      assertThat(one(ours).bytes()).isEqualTo(GRH + 8);
    }
  }
}
