package org.hghca.conformance.profile;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/** Limits a test to some profiles, though the others lack no feature that it needs. */
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.TYPE})
@ExtendWith(OnlyOnCondition.class)
public @interface OnlyOn {
  /** Names of one or more profiles. */
  String[] value();

  /** Why it does not apply to the others, or which test covers them. */
  String why();
}
