import * as z from "zod/mini";
import { guardrailOverrides } from "./schema-guardrails.ts";
import { anyObject, described, text, withDefault } from "./setting.ts";

/** Another function name for one tool. */
export const toolMapping = z.strictObject({
  serverName: described(text, "Server that has the tool."),
  toolName: described(text, "The tool's own name."),
  functionName: described(z.optional(text), "Name the function gets in code."),
  pythonFunctionName: described(z.optional(text), "Read as function_name."),
  inputSchema: described(z.optional(anyObject), "JSON Schema of the arguments."),
  outputSchema: described(z.optional(anyObject), "JSON Schema of the result."),
});

const step = z.strictObject({
  name: described(text, "Name of the step."),
  type: described(z.enum(["tool_call", "code_execution", "condition", "loop"]), "What the step does."),
  config: described(anyObject, "Configuration of the step."),
  guardrails: described(z.optional(guardrailOverrides), "Guardrails of this step."),
  onError: described(
    z.optional(text),
    "What follows a failure: stop, skip, continue, retry, or a step's name.",
  ),
  retry: described(z.optional(anyObject), "How to retry: attempts, delay, backoff."),
});

export const workflow = z.strictObject({
  name: described(text, "Name of the workflow."),
  description: described(z.optional(z.string()), "Purpose of the workflow."),
  version: described(withDefault(z.string(), "1.0"), "Version of the workflow."),
  steps: described(z.array(step), "The steps, in order."),
  variables: described(withDefault(anyObject, {}), "Values the steps can use."),
  guardrails: described(z.optional(guardrailOverrides), "Guardrails of all its steps."),
});
