import { CemError } from "@cem/core";
import type { JsonObject, JsonValue, WorkflowStepContext, WorkflowStepKind } from "@cem/core";
import { fillWith } from "./form-filler.ts";
import { labelOf } from "./form-schema.ts";
import type { Form } from "./form-schema.ts";
import { defineForm, parseForm } from "./parse-form.ts";
import { FORM_SERVER } from "./personal-values.ts";
import type { PersonalValues } from "./personal-values.ts";
import type { FormResult } from "./result.ts";
import type { TargetSettings } from "./targets.ts";
import { readWorkspaceFile } from "./workspace-files.ts";

const MAX_SHOWN = 10;

/** Settings of {@link createFormStepKind}: how a step's forms are filled. Calls of tools go through the workflow. */
export type FormStepSettings = Omit<TargetSettings, "callTool" | "restoresTokens">;

/**
 * Creates the workflow step `form`: its config has a `form`, or a `file` in the workspace with one, and the `data` to fill
 * it with. A form that is not filled fails the step with `FORM_NOT_FILLED`.
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
    plan: (config) => describePlan(config),
    async run(config, context) {
      const form = await formOf(config, settings.workspace);
      const result = await fillWith(
        form,
        {
          screenshotFolder: context.folder,
          ...settings,
          ask: context.ask,
          callTool: (call) => context.callTool(call),
          restoresTokens: true,
        },
        personalValuesIn(context, form),
        { data: asObject(config["data"]), signal: context.signal, isTrial: config["trial"] === true },
      );
      if (result.status !== "filled") throw notFilled(form, result);
      return result as unknown as JsonValue;
    },
  };
}

/**
 * `FORM_NOT_FILLED`: a form could not be filled.
 *
 * @param result - Says why, without personal values.
 */
export function notFilled({ name, fields }: Form, { status, missing, problems }: FormResult): CemError {
  const labels = new Map(fields.map((field) => [field.name, labelOf(field)]));
  const reasons = [
    ...problems.map(({ field = "", message }) => `${labels.get(field) ?? field} ${message}`.trim()),
    ...missing.map(({ label, reason }) => `${label} is missing${reason === undefined ? "" : `: ${reason}`}`),
  ];
  const more = reasons.length > MAX_SHOWN ? `; and ${reasons.length - MAX_SHOWN} more` : "";
  return new CemError(
    "FORM_NOT_FILLED",
    `The form ${name} is not filled: ${reasons.slice(0, MAX_SHOWN).join("; ")}${more}.`,
    { details: { form: name, status, missing, problems } },
  );
}

function personalValuesIn(context: WorkflowStepContext, { name }: Form): PersonalValues {
  return {
    restore: (data) => context.detokenize(data, { server: FORM_SERVER, tool: name }),
    keep: (value, type) => context.keep?.(value, type),
    conceal: (data) => context.tokenize(data),
  };
}

async function formOf({ form, file }: JsonObject, workspace: string | undefined): Promise<Form> {
  if (form !== undefined) return defineForm(form);
  const name = typeof file === "string" ? file : "";
  try {
    const { bytes } = await readWorkspaceFile(workspace, name);
    return parseForm(new TextDecoder("utf-8", { fatal: true }).decode(bytes), { file: name });
  } catch (cause) {
    if (CemError.isInstance(cause) && cause.code === "FORM_INVALID") throw cause;
    const why = CemError.isInstance(cause) ? cause.message : "is not UTF-8 text";
    throw new CemError("FORM_INVALID", `The form's file ${why}.`, { details: { file: name }, cause });
  }
}

function describePlan({ form, file, data }: JsonObject): string[] {
  const { name = file } = asObject(form);
  const target = asObject(asObject(form)["target"]);
  const where = target["url"] ?? target["output"] ?? target["tool"];
  const given = Object.keys(asObject(data)).length;
  return [
    `fill the form ${typeof name === "string" ? name : ""} with ${given} given values${typeof where === "string" ? ` into ${where}` : ""}`,
  ];
}

function asObject(value: JsonValue | undefined): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}
