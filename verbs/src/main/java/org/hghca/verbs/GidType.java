package org.hghca.verbs;

/** What kind of address a GID table entry is. */
public enum GidType {
  ROCE_V1("RoCE v1"),
  ROCE_V2("RoCE v2");

  private final String text;

  GidType(String text) {
    this.text = text;
  }

  public String text() {
    return text;
  }
}
