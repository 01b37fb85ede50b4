package org.hghca.driver.rtl.ring;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The rule for whole messages against the behavior that was measured on the RTL, packet by packet.
 */
public class PageCrossingTest {
  private static final int PAGE = 4096;

  /** Packets one by one: l1 bytes up to the page's end, l2 behind it. */
  private static boolean struckByAPacket(long address, long length, int mtu) {
    for (long sent = 0; sent < length; sent += mtu) {
      long start = address + sent;
      long bytes = Math.min(mtu, length - sent);
      long l1 = Math.min(bytes, PAGE - start % PAGE);
      long l2 = bytes - l1;
      if (l2 > 0 && l1 % 32 != 0 && l1 % 32 + l2 <= 32) {
        return true;
      }
    }
    return false;
  }

  private static List<Long> lengths(int mtu, long offset) {
    List<Long> lengths = new ArrayList<>();
    for (long length = 1; length <= 140; length++) {
      lengths.add(length);
    }
    // Around the ends of packets and of the first pages, from where the message starts.
    for (int packet = 1; packet <= 2 * PAGE / mtu + 2; packet++) {
      for (int more = -34; more <= 34; more++) {
        lengths.add((long) packet * mtu + more);
      }
    }
    for (int page = 1; page <= 3; page++) {
      for (int more = -66; more <= 66; more++) {
        lengths.add((long) page * PAGE - offset + more);
      }
    }
    lengths.removeIf(length -> length < 1);
    return lengths;
  }

  @ParameterizedTest
  @ValueSource(ints = {8, 9, 10, 11, 12})
  public void messageStopsTheCardExactlyWhenOneOfItsPacketsDoes(int mtuLog) {
    int mtu = 1 << mtuLog;
    for (long offset = 0; offset < PAGE; offset++) {
      long inPart = offset % 256;
      boolean interesting = inPart < 34 || inPart > 222 || offset % 101 == 0;
      if (!interesting) {
        continue;
      }
      long address = 0x7f12_3456_7000L + offset;
      for (long length : lengths(mtu, offset)) {
        boolean strikes = PageCrossing.strikes(address, length, mtuLog);
        if (strikes != struckByAPacket(address, length, mtu)) {
          throw new AssertionError(
              "offset %d, %d bytes, packets of %d: %s".formatted(offset, length, mtu, strikes));
        }
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {8, 9, 10, 11, 12})
  public void longMessagesFollowTheRule(int mtuLog) {
    Random random = new Random(mtuLog);
    for (int i = 0; i < 20_000; i++) {
      long address = random.nextLong() & 0x7fff_ffff_ffffL;
      long length = 1L + random.nextInt(1 << 17);
      assertThat(PageCrossing.strikes(address, length, mtuLog))
          .as("%d bytes at 0x%x", length, address)
          .isEqualTo(struckByAPacket(address, length, 1 << mtuLog));
    }
  }

  /**
   * A READ that is fetched in pieces, of which each has packets of its own: as if its packets were
   * those of the shorter of both.
   */
  @ParameterizedTest
  @ValueSource(ints = {8, 9, 10, 11, 12})
  public void piecesOfAReadFollowTheRuleOfTheShorterPackets(int pieceLog) {
    int piece = 1 << pieceLog;
    for (int mtuLog = 8; mtuLog <= 12; mtuLog++) {
      for (long offset = 0; offset < PAGE; offset += offset % 256 < 34 ? 1 : 13) {
        long address = 0x7f12_3456_7000L + offset;
        for (long length : lengths(Math.min(piece, 1 << mtuLog), offset)) {
          boolean struck = false;
          for (long done = 0; done < length && !struck; done += piece) {
            struck = struckByAPacket(address + done, Math.min(piece, length - done), 1 << mtuLog);
          }
          int packetLog = length > piece ? Math.min(pieceLog, mtuLog) : mtuLog;
          if (struck != PageCrossing.strikes(address, length, packetLog)) {
            throw new AssertionError(
                "offset %d, %d bytes in pieces of %d, packets of %d: %s"
                    .formatted(offset, length, piece, 1 << mtuLog, struck));
          }
        }
      }
    }
  }

  /** For an element whose message starts or ends elsewhere, each part that a packet may have. */
  @Test
  public void elementTakenForSafeNeverStopsTheCard() {
    Random random = new Random(7);
    int safe = 0;
    for (int i = 0; i < 300_000; i++) {
      int mtu = 256 << random.nextInt(5);
      long address = 0x10_0000L + random.nextInt(PAGE);
      long length = 1L + random.nextInt(2 * PAGE);
      long before = random.nextInt(4) == 0 ? random.nextInt(300) : 32L * random.nextInt(300);
      if (random.nextBoolean()) {
        address &= -32;
      }
      if (PageCrossing.mayStrike(address, length, before)) {
        continue;
      }
      safe++;
      // The message may be shorter than the memory: it ends anywhere in the element.
      long bytes = 1L + random.nextInt((int) length);
      long first = before / mtu * mtu;
      for (long packet = first; packet < before + bytes; packet += mtu) {
        long from = Math.max(packet, before);
        long to = Math.min(packet + mtu, before + bytes);
        long start = address + from - before;
        long l1 = Math.min(to - from, PAGE - start % PAGE);
        long l2 = to - from - l1;
        assertThat(l2 > 0 && l1 % 32 != 0 && l1 % 32 + l2 <= 32)
            .as("%d of %d bytes at 0x%x behind %d, MTU %d", bytes, length, address, before, mtu)
            .isFalse();
      }
    }
    assertThat(safe).isGreaterThan(100_000);
  }

  @ParameterizedTest(name = "{0} bytes at page offset {1} behind {2}: {3}")
  @CsvSource({
    "4096, 0, 0, false",
    "4097, 0, 0, false",
    "4097, 0, 10, true", // the crossing SGE behind 10 bytes that was measured to stop the card at
    // MTU 256
    "64, 4064, 0, false",
    "64, 4080, 0, true",
    "16, 4080, 0, false",
    "17, 4080, 0, true",
  })
  public void pageCrossingAtAPacketNotAlignedTo32CanStopTheCard(
      long length, long offset, long before, boolean strikes) {
    assertThat(PageCrossing.mayStrike(0x5000 + offset, length, before)).isEqualTo(strikes);
  }
}
