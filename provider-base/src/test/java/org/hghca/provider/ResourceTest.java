package org.hghca.provider;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;
import org.junit.jupiter.api.Test;

public class ResourceTest {
  private static final class Named extends Resource {
    private final String name;
    private int releases;
    private boolean held;
    private RuntimeException failure;
    private Error error;

    Named(String name, Resource... used) {
      this(name, true, used);
    }

    Named(String name, boolean complete, Resource... used) {
      super(used);
      this.name = name;
      if (complete) {
        publish();
      }
    }

    @Override
    public String describe() {
      return name;
    }

    @Override
    protected void prepareRelease() {
      if (held) {
        throw new VerbsException(Errno.EBUSY, "native code uses " + name);
      }
    }

    @Override
    protected void release() {
      releases++;
      if (failure != null) {
        throw failure;
      }
      if (error != null) {
        throw error;
      }
    }
  }

  @Test
  public void closingAParentInUseNamesItsChildren() {
    Named parent = new Named("PD 0x1");
    Named first = new Named("MR 0x10", parent);
    Named second = new Named("QP 0x2", parent);
    assertThatThrownBy(parent::close)
        .isInstanceOfSatisfying(
            VerbsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EBUSY))
        .hasMessage("PD 0x1 is in use by MR 0x10, QP 0x2: close them first: EBUSY (16)");
    first.close();
    second.close();
    assertThatCode(parent::close).doesNotThrowAnyException();
    assertThat(parent.releases).isEqualTo(1);
  }

  @Test
  public void closingTwiceReleasesOnce() {
    Named resource = new Named("PD 0x1");
    resource.close();
    resource.close();
    assertThat(resource.releases).isEqualTo(1);
  }

  @Test
  public void nothingCanBeCreatedFromAClosedParent() {
    Named open = new Named("CQ 0x1");
    Named closed = new Named("PD 0x1");
    closed.close();
    assertThatThrownBy(() -> new Named("QP 0x2", open, closed))
        .hasMessage("PD 0x1 is closed: EINVAL (22)");
    // The open parent does not count a child that was never created.
    assertThatCode(open::close).doesNotThrowAnyException();
  }

  /** An unfinished object is never called. */
  @Test
  public void unfinishedChildKeepsItsParentOpenAndIsNotCalled() {
    Named parent = new Named("PD 0x1");
    Resource unfinished =
        new Resource(parent) {
          @Override
          public String describe() {
            throw new AssertionError("asked before it is complete");
          }

          @Override
          protected void release() {}
        };
    assertThatThrownBy(parent::close)
        .hasMessage(
            "PD 0x1 is in use by an object that is being made: close them first: EBUSY (16)");
    unfinished.abandon();
    assertThatCode(parent::close).doesNotThrowAnyException();
  }

  @Test
  public void abandonedConstructionReleasesNothingAndKeepsNoParent() {
    Named parent = new Named("PD 0x1");
    Named child = new Named("MR 0x10", false, parent);
    child.abandon();
    assertThatCode(parent::close).doesNotThrowAnyException();
    assertThat(child.releases).isZero();
  }

  @Test
  public void replacementIsInUseAndThePreviousOneIsFree() {
    Named before = new Named("PD 0x1");
    Named instead = new Named("PD 0x2");
    Named child = new Named("MR 0x10", before);
    child.use(instead);
    child.useNoMore(before);
    assertThatCode(before::close).doesNotThrowAnyException();
    assertThatThrownBy(instead::close).hasMessageContaining("PD 0x2 is in use by MR 0x10");
    assertThatThrownBy(() -> child.use(before)).hasMessage("PD 0x1 is closed: EINVAL (22)");
    child.close();
    assertThatCode(instead::close).doesNotThrowAnyException();
  }

  @Test
  public void failedReleaseNeedsNothingAnyMore() {
    Named parent = new Named("PD 0x1");
    Named child = new Named("MR 0x10", parent);
    child.failure = new VerbsException(Errno.EIO, "no answer");
    assertThatThrownBy(child::close).isSameAs(child.failure);
    assertThatCode(parent::close).doesNotThrowAnyException();
  }

  /** Whoever uses the memory may not have been stopped. */
  @Test
  public void releaseThatEndedInAnErrorStillNeedsItsParent() {
    Named parent = new Named("PD 0x1");
    Named child = new Named("MR 0x10", parent);
    child.error = new OutOfMemoryError("for a test");
    assertThatThrownBy(child::close).isSameAs(child.error);
    assertThat(child.isClosed()).isTrue();
    assertThatThrownBy(parent::close).hasMessageContaining("in use by MR 0x10");
    assertThat(parent.releases).isZero();
  }

  @Test
  public void resourceThatCannotBeReleasedStaysOpen() {
    Named parent = new Named("PD 0x1");
    Named child = new Named("MR 0x10", parent);
    child.held = true;
    assertThatThrownBy(child::close).hasMessage("native code uses MR 0x10: EBUSY (16)");
    assertThat(child.isClosed()).isFalse();
    assertThat(child.releases).isZero();
    assertThatThrownBy(parent::close).hasMessageContaining("in use by MR 0x10");
    child.held = false;
    child.close();
    assertThat(child.releases).isEqualTo(1);
    parent.close();
  }
}
