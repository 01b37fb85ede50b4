package org.hghca.provider;

import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;
import org.hghca.vfio.UndoStack;

/** The undo steps of a provider, whose failures are those of verbs. */
public final class Undo extends UndoStack {

  @Override
  protected RuntimeException fault(InternalError cause) {
    return new VerbsException(Errno.EIO, cause.getMessage(), cause);
  }
}
