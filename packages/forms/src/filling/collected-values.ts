import { toErrorInfo, tokenizeInTurns, type JsonValue, type Redactor } from "@cem/core";
import { checkValue, fieldsOf, holds, isEmpty, type FieldValue } from "../form/field-values.ts";
import type { Form, FormField } from "../form/form-schema.ts";
import { faultOfFiles } from "../targets/workspace-files.ts";

/** Collects the values of a form as they arrive, and checks each once. */
export function collectValues(form: Form, personal: PersonalValues, workspace: string | undefined) {
  const values = new Map<string, FieldValue>();
  const faults = new Map<string, string>();
  const byName = new Map(form.fields.map((field) => [field.name, field]));

  /** Takes the given value of a field; an unfit one is recorded as the field's fault. */
  const take = async (name: string, given: unknown): Promise<void> => {
    const field = byName.get(name);
    if (field === undefined) return void faults.set(name, "is not a field of this form");
    if (isEmpty(given)) return;
    const fault = await set(field, given);
    if (fault === undefined) faults.delete(name);
    else faults.set(name, fault);
  };

  /** Applies the defaults of fields that have no value yet. @returns whether there were any. */
  const takeDefaults = async (): Promise<boolean> => {
    const open = applicable().filter((field) => !isEmpty(field.default) && !has(field.name));
    for (const field of open) await take(field.name, field.default);
    // The defaults may meet the conditions of other fields.
    if (open.length > 0) await takeDefaults();
    return open.length > 0;
  };

  const has = (name: string): boolean => values.has(name) || faults.has(name);

  const applicable = (): FormField[] => {
    const known = new Map<string, boolean>();
    const applies = (field: FormField): boolean => {
      let answer = known.get(field.name);
      if (answer !== undefined) return answer;
      const { when } = field;
      const counting = new Map(values);
      // A field that does not apply counts as empty.
      for (const name of fieldsOf(when)) {
        const other = byName.get(name);
        if (other !== undefined && !applies(other)) counting.delete(name);
      }
      answer = when === undefined || holds(when, counting, (name) => byName.get(name)?.type);
      known.set(field.name, answer);
      return answer;
    };
    return form.fields.filter(applies);
  };

  const missing = (): FormField[] => applicable().filter(({ name, required }) => required && !has(name));

  const set = async (field: FormField, given: unknown): Promise<string | undefined> => {
    let clear: JsonValue;
    try {
      clear = await personal.restore(given as JsonValue);
    } catch (error) {
      return whyNotRestored(toErrorInfo(error).code);
    }
    const checked = checkValue(field, clear);
    if (!checked.ok) return checked.fault;
    const { value } = checked;
    if (field.type === "file" && Array.isArray(value)) {
      const fault = await faultOfFiles(workspace, field, value);
      if (fault !== undefined) return fault;
    }
    values.set(field.name, value);
    return undefined;
  };

  return { values, faults, take, takeDefaults, has, applicable, missing };
}

export type CollectedValues = ReturnType<typeof collectValues>;

function whyNotRestored(code: string): string {
  if (code === "TOKEN_UNKNOWN")
    return "has a token that stands for no value of this session; get the value again";
  return code === "FLOW_DENIED" ? "must not go to this form: a rule keeps it" : `can't be read (${code})`;
}

/** Keeps personal values out of everything but the target of a form. */
export interface PersonalValues {
  /** Replaces tokens by values. Rejects with `TOKEN_UNKNOWN` or `FLOW_DENIED`. */
  restore(data: JsonValue): Promise<JsonValue>;
  /** Stores a value of a known type and returns its token; `undefined` when values can't be stored. */
  keep(value: string | number, type: string): string | undefined;
  /** Replaces all personal values in data by tokens. */
  conceal(data: JsonValue): Promise<JsonValue>;
}

/** The server name of forms in flow rules; the tool is the form's name. */
export const FORM_SERVER = "form";

export function personalValuesOf(
  redactor: Redactor,
  target: Omit<NonNullable<Parameters<Redactor["detokenize"]>[1]>, "server">,
): PersonalValues {
  const { session } = target;
  return {
    restore: (data) => redactor.detokenize(data, { server: FORM_SERVER, ...target }),
    keep: (value, type) => redactor.keep(value, type, { session }),
    conceal: (data) => tokenizeInTurns(redactor, data, { session }),
  };
}
