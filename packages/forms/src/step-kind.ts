import type { WorkflowStepKind } from "@cem/core";
import type { FormStepSettings } from "./filling/run-form-step.ts";

/**
 * Creates the workflow step `form`: its config has a `form`, or a `file` in the workspace with one, and the `data` to
 * fill it with. A form that can't be filled fails the step with `FORM_NOT_FILLED`.
 */
export function createFormStepKind(settings: FormStepSettings = {}): WorkflowStepKind {
  return {
    specificationVersion: "v1",
    name: "form",
    configSchema: {
      type: "object",
      properties: {
        form: { type: "object", description: "The form." },
        file: { type: "string", description: "The file of the form, in the workspace, instead of `form`." },
        data: { type: "object", description: "Values by field." },
        trial: { type: "boolean", description: "Whether to fill in and compare, and to send nothing." },
      },
      anyOf: [{ required: ["form"] }, { required: ["file"] }],
      additionalProperties: false,
    },
    async run(config, context) {
      const { runFormStep } = await import("./filling/run-form-step.ts");
      return runFormStep(config, context, settings);
    },
  };
}
