package org.hghca.icm;

import org.hghca.abi.MapIcm;

/** The tables that the card keeps in ICM. */
public enum IcmTable {
  /** Queue pair contexts. */
  QPC(MapIcm.CONTEXTS),
  /** Completion queue contexts. */
  CQC(MapIcm.CONTEXTS),
  /** Event queue contexts. */
  EQC(MapIcm.CONTEXTS),
  /** Memory protection table. */
  MPT(MapIcm.TRANSLATION),
  /** Memory translation table. */
  MTT(MapIcm.TRANSLATION);

  private final int opModifier;

  IcmTable(int opModifier) {
    this.opModifier = opModifier;
  }

  /** The op_modifier of MAP_ICM and UNMAP_ICM for the table: 1 or 2 (table 3-2-12). */
  public int opModifier() {
    return opModifier;
  }
}
