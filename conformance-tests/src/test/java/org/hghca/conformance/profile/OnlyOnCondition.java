package org.hghca.conformance.profile;

import java.util.List;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.platform.commons.support.AnnotationSupport;

/** Skips tests that are limited to other profiles. */
final class OnlyOnCondition implements ExecutionCondition {
  /** Used by the test platform. */
  OnlyOnCondition() {}

  @Override
  public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
    return context
        .getElement()
        .flatMap(element -> AnnotationSupport.findAnnotation(element, OnlyOn.class))
        .filter(only -> !List.of(only.value()).contains(TestProfile.name()))
        .map(only -> ConditionEvaluationResult.disabled("not here: " + only.why()))
        .orElse(ConditionEvaluationResult.enabled("not limited to another profile"));
  }
}
