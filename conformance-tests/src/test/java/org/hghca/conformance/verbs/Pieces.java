package org.hghca.conformance.verbs;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;

/** Parts of a buffer that form one message, in order. */
record Pieces(List<Piece> parts) {

  /** A part of a buffer. */
  record Piece(long offset, long length) {}

  /** One part. */
  static Pieces one(long offset, long length) {
    return new Pieces(List.of(new Piece(offset, length)));
  }

  /** Parts of random lengths with gaps between them, aligned only by chance. */
  static Pieces random(long offset, long total, int count, SplittableRandom random) {
    List<Piece> parts = new ArrayList<>();
    long at = offset;
    long left = total;
    for (int i = count - 1; i >= 0; i--) {
      long length = i == 0 ? left : left == 0 ? 0 : random.nextLong(left + 1);
      parts.add(new Piece(at, length));
      at += length + 1 + random.nextInt(31);
      left -= length;
    }
    return new Pieces(parts);
  }

  long total() {
    return parts.stream().mapToLong(Piece::length).sum();
  }

  void addTo(SendRequest request, MemoryRegion region) {
    parts.forEach(part -> request.sge(region, part.offset(), part.length()));
  }

  void addTo(ReceiveRequest request, MemoryRegion region) {
    parts.forEach(part -> request.sge(region, part.offset(), part.length()));
  }

  void randomize(Side side, SplittableRandom random) {
    parts.forEach(part -> side.randomize(part.offset(), part.length(), random));
  }

  /** Expects the device to move the data of a peer's parts into these, as far as it reaches. */
  void expect(Side side, Side peer, Pieces from) {
    int source = 0;
    long sourceDone = 0;
    int target = 0;
    long targetDone = 0;
    while (source < from.parts.size() && target < parts.size()) {
      Piece s = from.parts.get(source);
      Piece t = parts.get(target);
      long length = Math.min(s.length() - sourceDone, t.length() - targetDone);
      side.expect(t.offset() + targetDone, peer, s.offset() + sourceDone, length);
      sourceDone += length;
      targetDone += length;
      if (sourceDone == s.length()) {
        source++;
        sourceDone = 0;
      }
      if (targetDone == t.length()) {
        target++;
        targetDone = 0;
      }
    }
  }
}
