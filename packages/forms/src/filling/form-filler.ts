import { nobodyAsked, toErrorInfo, type Elicit, type Redactor } from "@cem/core";
import { labelOf, type Form, type FormField } from "../form/form-schema.ts";
import type { FillOutcome } from "../targets/target.ts";
import { collectValues, FORM_SERVER, personalValuesOf } from "./collected-values.ts";
import type { CollectedValues, PersonalValues } from "./collected-values.ts";
import { mayAsk, questionSchema } from "./question.ts";
import { prepareFields, toResult, unfilled, type FormResult } from "./result.ts";
import { createSources } from "./sources.ts";
import { targetOf, type TargetSettings } from "./targets.ts";

/** Maximum number of times a person is asked: conditions and refused answers may leave values missing. */
const MAX_QUESTIONS = 5;

/** Settings of {@link createFormFiller}. */
export interface FormFillerSettings extends TargetSettings {
  /** Asks a person for missing values, with a JSON Schema. Absent: they stay missing. */
  ask?: Elicit | undefined;
  /**
   * Keeps personal values.
   *
   * @defaultValue one of its own, which knows the types of `@cem/pii`
   */
  redactor?: Redactor | undefined;
}

/** Options of one filling. */
export interface FillOptions {
  /** Values by field. The redactor's tokens stand for values. */
  data?: Readonly<Record<string, unknown>> | undefined;
  /** The redactor's session in which personal values are kept. */
  session?: string | undefined;
  signal?: AbortSignal | undefined;
  /**
   * Whether to only fill in and compare, without sending, writing or calling anything.
   *
   * @defaultValue false
   */
  isTrial?: boolean | undefined;
}

/** Fills forms. */
export interface FormFiller {
  /**
   * Collects the values of a form, fills its target and reads back what the target holds.
   *
   * @throws CemError when the target can't be opened at all, such as `BROWSER_NOT_FOUND` or `PACKAGE_MISSING`.
   */
  fill(form: Form, options?: FillOptions): Promise<FormResult>;
  /** Checks given values and reports missing ones. Asks nobody, calls no tools, opens nothing. */
  check(form: Form, options?: Pick<FillOptions, "data" | "session">): Promise<FormResult>;
}

/** Creates a filler of forms. */
export function createFormFiller(settings: FormFillerSettings = {}): FormFiller {
  let own: Promise<Redactor> | undefined;
  const redactorOf = async (): Promise<Redactor> =>
    settings.redactor ?? (await (own ??= import("@cem/pii").then(({ createRedactor }) => createRedactor())));
  return {
    async fill(form, { session, signal = new AbortController().signal, ...options } = {}) {
      const target = { session, tool: form.name, elicit: settings.ask, signal };
      const personal = personalValuesOf(await redactorOf(), target);
      return fillWith(form, settings, personal, { ...options, signal, reportsFailedTool: true });
    },
    async check(form, { data, session } = {}) {
      const personal = personalValuesOf(await redactorOf(), { session, tool: form.name });
      const collected = collectValues(form, personal, settings.workspace);
      for (const [name, given] of Object.entries(data ?? {})) await collected.take(name, given);
      await collected.takeDefaults();
      const { shown } = await prepareFields(collected, personal);
      return unfilled(collected, shown);
    },
  };
}

/** Fills one form with a filler of its own. */
export function fillForm(form: Form, options: FillOptions & FormFillerSettings = {}): Promise<FormResult> {
  const { data, session, signal, isTrial, ...settings } = options;
  return createFormFiller(settings).fill(form, { data, session, signal, isTrial });
}

/** Fills a form. `reportsFailedTool`: a failure of the target's tool becomes part of the result; workflows need its error. */
export async function fillWith(
  form: Form,
  settings: Omit<FormFillerSettings, "redactor">,
  personal: PersonalValues,
  options: Pick<FillOptions, "data" | "isTrial"> & { signal: AbortSignal; reportsFailedTool?: boolean },
): Promise<FormResult> {
  const { data = {}, signal, isTrial = false, reportsFailedTool = false } = options;
  signal.throwIfAborted();
  const collected = collectValues(form, personal, settings.workspace);
  for (const [name, given] of Object.entries(data)) await collected.take(name, given);
  const reasons = await complete(form, collected, settings, signal);
  const { filled, shown } = await prepareFields(collected, personal);
  const result = unfilled(collected, shown, reasons);
  if (result.status !== "success" || form.target === undefined) return result;
  const target = await targetOf(form.target.type, settings);
  signal.throwIfAborted();
  let outcome: FillOutcome;
  try {
    // oxlint-disable-next-line unicorn/no-array-fill-with-reference-type -- a target is not an array
    outcome = await target.fill({ form, fields: filled, signal, isTrial });
  } catch (error) {
    if (!reportsFailedTool || form.target.type !== "tool" || settings.targets?.tool !== undefined)
      throw error;
    signal.throwIfAborted();
    const message = `The tool ${form.target.tool} failed (${toErrorInfo(error).code}).`;
    // It is unknown whether the target did its work before.
    outcome = { readings: [], problems: [{ message }], screenshots: [], submitted: true };
  }
  return toResult(form, outcome, filled, shown, personal);
}

/** Gets missing values from tools, defaults and a person. @returns why values are still missing, by field. */
async function complete(
  form: Form,
  collected: CollectedValues,
  { callTool, ask }: Pick<FormFillerSettings, "callTool" | "ask">,
  signal: AbortSignal,
): Promise<Map<string, string>> {
  const sources = createSources(form.sources, callTool);
  const { faults, values } = collected;
  for (let asked = 0; ; asked += 1) {
    await sources.collect(collected);
    const expected = sources.expected(collected);
    if (expected.size === 0) await collected.takeDefaults();
    // The fields that need a value, or a different one.
    const open = collected
      .applicable()
      .filter(({ name, required }) => faults.has(name) || (required && !values.has(name)));
    const wanted = open.filter(({ name }) => !expected.has(name));
    const askable = wanted.filter(mayAsk);
    // A value for an unknown field is the caller's mistake and no reason to ask a person.
    const isHopeless = [...faults.keys()].some((name) => form.fields.every((one) => one.name !== name));
    if (askable.length === 0 || ask === undefined || isHopeless || asked >= MAX_QUESTIONS) {
      // A field that a tool needs may have a default, and so may the fields that the tool would fill.
      if (await collected.takeDefaults()) continue;
      const secret = "is not asked for, since questions must not ask for secrets; give it with the data";
      for (const field of wanted) if (!mayAsk(field)) sources.reasons.set(field.name, secret);
      return sources.reasons;
    }
    const reason = await askFor(form, askable, collected, ask, signal);
    if (reason === undefined) continue;
    for (const { name } of wanted) sources.reasons.set(name, reason);
    await collected.takeDefaults();
    return sources.reasons;
  }
}

/** @returns why there was no answer, or `undefined` after one. */
async function askFor(
  form: Form,
  fields: readonly FormField[],
  collected: CollectedValues,
  ask: Elicit,
  signal: AbortSignal,
): Promise<string | undefined> {
  const refused = fields.flatMap((field) => {
    const fault = collected.faults.get(field.name);
    return fault === undefined ? [] : [`${labelOf(field)} ${fault}.`];
  });
  const needs = `The form ${form.name} needs ${fields.length === 1 ? "a value" : `${fields.length} values`}.`;
  const answer = await ask({
    server: FORM_SERVER,
    mode: "form",
    message: [needs, ...refused].join(" "),
    requestedSchema: questionSchema(fields),
    signal,
  }).catch(() => nobodyAsked("asking failed"));
  signal.throwIfAborted();
  if (answer.action === "decline") return "was asked for and not given";
  if (answer.action === "cancel") return answer.reason ?? "was asked for, and the question was dismissed";
  const content = answer.content ?? {};
  const given = fields.filter(({ name }) => Object.hasOwn(content, name));
  for (const { name } of given) await collected.take(name, content[name]);
  return given.length === 0 ? "was asked for and not given" : undefined;
}
