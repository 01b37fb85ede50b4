package org.hghca.verbs;

/** The kind of address of a GID table entry. */
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
