import * as z from "zod";
import { guardrailOverrides } from "./schema-guardrails.ts";
import { anyObject, text } from "./setting.ts";

/** Another function name for one tool. */
export const toolMapping = z.strictObject({
  serverName: text.describe("Server that has the tool."),
  toolName: text.describe("The tool's own name."),
  functionName: text.optional().describe("Name the function gets in code."),
  pythonFunctionName: text.optional().describe("Read as function_name."),
  inputSchema: anyObject.optional().describe("JSON Schema of the arguments."),
  outputSchema: anyObject.optional().describe("JSON Schema of the result."),
});

const step = z.strictObject({
  name: text.describe("Name of the step."),
  type: z.enum(["tool_call", "code_execution", "condition", "loop"]).describe("What the step does."),
  config: anyObject.describe("Configuration of the step."),
  guardrails: guardrailOverrides.optional().describe("Guardrails of this step."),
  onError: text.optional().describe("What follows a failure: stop, skip, continue, retry, or a step's name."),
  retry: anyObject.optional().describe("How to retry: attempts, delay, backoff."),
});

export const workflow = z.strictObject({
  name: text.describe("Name of the workflow."),
  description: z.string().optional().describe("Purpose of the workflow."),
  version: z.string().default("1.0").describe("Version of the workflow."),
  steps: z.array(step).describe("The steps, in order."),
  variables: anyObject.default({}).describe("Values the steps can use."),
  guardrails: guardrailOverrides.optional().describe("Guardrails of all its steps."),
});
