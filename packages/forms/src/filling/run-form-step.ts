import { CemError, isObject, type JsonObject, type JsonValue, type WorkflowStepContext } from "@cem/core";
import { labelOf, type Form } from "../form/form-schema.ts";
import { defineForm, parseForm } from "../form/parse-form.ts";
import { readWorkspaceFile } from "../targets/workspace-files.ts";
import { FORM_SERVER } from "./collected-values.ts";
import { fillWith } from "./form-filler.ts";
import type { FormResult } from "./result.ts";
import type { TargetSettings } from "./targets.ts";

const MAX_SHOWN = 10;

/** Settings of `createFormStepKind`: how a step's forms are filled. Calls of tools go through the workflow. */
export type FormStepSettings = Omit<TargetSettings, "callTool" | "restoresTokens">;

/** Fills the form of a step. @throws CemError `FORM_INVALID`, `FORM_NOT_FILLED` */
export async function runFormStep(
  config: JsonObject,
  context: WorkflowStepContext,
  settings: FormStepSettings,
): Promise<JsonValue> {
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
    {
      restore: (data) => context.detokenize(data, { server: FORM_SERVER, tool: form.name }),
      keep: (value, type) => context.keep?.(value, type),
      conceal: (data) => context.tokenize(data),
    },
    {
      data: isObject(config["data"]) ? config["data"] : {},
      signal: context.signal,
      isTrial: config["trial"] === true,
    },
  );
  if (result.status !== "success") throw notFilled(form, result);
  return result as unknown as JsonValue;
}

/** `FORM_NOT_FILLED` with the reason, which a result has without personal values. */
function notFilled({ name, fields }: Form, { status, missing, problems, submitted }: FormResult): CemError {
  const labels = new Map(fields.map((field) => [field.name, labelOf(field)]));
  const reasons = [
    ...problems.map(({ field = "", message }) => `${labels.get(field) ?? field} ${message}`.trim()),
    ...missing.map(({ label, reason }) => `${label} is missing${reason === undefined ? "" : `: ${reason}`}`),
  ].map((reason) => reason.replace(/\.$/u, ""));
  const outcome = submitted ? "sent, and the answer is not as expected" : "not filled";
  const more = reasons.length > MAX_SHOWN ? `; and ${reasons.length - MAX_SHOWN} more` : "";
  return new CemError(
    "FORM_NOT_FILLED",
    `The form ${name} is ${outcome}: ${reasons.slice(0, MAX_SHOWN).join("; ")}${more}.`,
    // A sent form must not be sent again.
    { details: { form: name, status, missing, problems, ...(submitted && { isUncertain: true }) } },
  );
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
    const message = `The form's file ${JSON.stringify(name)} ${why}.`;
    throw new CemError("FORM_INVALID", message, { details: { file: name }, cause });
  }
}
