package org.hghca.conformance.profile;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/** What a test is tied to, though the others lack nothing that a program could miss. */
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.TYPE})
@ExtendWith(OnlyOnCondition.class)
public @interface OnlyOn {
  /** Name of a profile. */
  String value();

  /** Why it says nothing about the others, or which test says it there. */
  String why();
}
