package org.hghca.conformance.profile;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * The features that a test, or all tests of a class, require. Where the {@link TestProfile} lacks
 * one of them the test counts as UNSUPPORTED.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.TYPE})
@ExtendWith(NeedsCondition.class)
public @interface Needs {
  /** One or more. */
  Feature[] value();
}
