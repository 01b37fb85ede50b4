package org.hghca.conformance.verbs;

import java.util.ArrayList;
import java.util.List;
import org.hghca.conformance.profile.Feature;
import org.hghca.conformance.profile.TestProfile;
import org.hghca.conformance.verbs.Pieces.Piece;

/**
 * Where data may arrive on a card that stops at some page crossings: a part that crosses a page
 * must start at a multiple of 32, and so must all parts before it. A part that crosses no page may
 * start anywhere. See {@link Feature#ANY_DESTINATION}.
 */
final class Landing {
  private static final int GRAIN = 32;
  private static final int PAGE = 4096;

  private Landing() {}

  /** The same parts where the profile takes them, or parts with the same total length nearby. */
  static Pieces legal(long address, Pieces wanted) {
    return TestProfile.has(Feature.ANY_DESTINATION) || isSafe(address, wanted)
        ? wanted
        : aligned(address, wanted);
  }

  /** For a buffer that starts at a page boundary. */
  static Pieces legal(Pieces wanted) {
    return legal(0, wanted);
  }

  /** The portion of a part of a region that can arrive there: from its first multiple of 32 on. */
  static Piece within(long address, Piece wanted) {
    if (TestProfile.has(Feature.ANY_DESTINATION) || isSafe(address, new Pieces(List.of(wanted)))) {
      return wanted;
    }
    long skipped = Math.floorMod(-(address + wanted.offset()), GRAIN);
    return new Piece(wanted.offset() + skipped, wanted.length() - skipped);
  }

  /** Whether no packet of a message to this place can stop the card. */
  static boolean isSafe(long address, Pieces pieces) {
    boolean even = true;
    for (Piece piece : pieces.parts()) {
      long first = address + piece.offset();
      boolean crosses = first / PAGE != (first + Math.max(piece.length(), 1) - 1) / PAGE;
      if (crosses && (!even || first % GRAIN != 0)) {
        return false;
      }
      even &= piece.length() % GRAIN == 0;
    }
    return true;
  }

  private static Pieces aligned(long address, Pieces wanted) {
    List<Piece> parts = new ArrayList<>();
    long left = wanted.total();
    long at = address + wanted.parts().getFirst().offset();
    for (int i = 0; i < wanted.parts().size(); i++) {
      boolean last = i == wanted.parts().size() - 1;
      long length = last ? left : wanted.parts().get(i).length() / GRAIN * GRAIN;
      at += Math.floorMod(-at, GRAIN);
      parts.add(new Piece(at - address, length));
      at += length + 1;
      left -= length;
    }
    return new Pieces(parts);
  }
}
