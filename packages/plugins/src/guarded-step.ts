import type { WorkflowStepKind } from "@cem/core";
import type { PluginUse } from "./plugin-use.ts";

const PLAN_TIMEOUT_MS = 1_000;

/** A type of step that is timed. A workflow ends its steps itself when their time is over. */
export function timedStep(step: WorkflowStepKind, use: PluginUse): WorkflowStepKind {
  const { specificationVersion, name, configSchema, isIdempotent } = step;
  const run: WorkflowStepKind["run"] = (config, context) => use.time(async () => step.run(config, context));
  const plan = step.plan?.bind(step);
  return {
    specificationVersion,
    name,
    configSchema,
    isIdempotent,
    run,
    ...(plan !== undefined && {
      plan: (config) => use.callNow(`step ${name}`, PLAN_TIMEOUT_MS, () => plan(config)),
    }),
  };
}
