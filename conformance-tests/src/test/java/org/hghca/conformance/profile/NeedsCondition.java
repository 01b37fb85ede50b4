package org.hghca.conformance.profile;

import java.util.List;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.platform.commons.support.AnnotationSupport;

/** Skips tests that {@link Needs} missing features. */
final class NeedsCondition implements ExecutionCondition {
  /** Used by the test platform. */
  NeedsCondition() {}

  @Override
  public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
    List<Feature> missing =
        context
            .getElement()
            .flatMap(element -> AnnotationSupport.findAnnotation(element, Needs.class))
            .map(needs -> Feature.missing(needs.value()))
            .orElse(List.of());
    return missing.isEmpty()
        ? ConditionEvaluationResult.enabled("nothing is missing")
        : ConditionEvaluationResult.disabled(Unsupported.reason(missing));
  }
}
