import { toErrorInfo, tokenizeInTurns } from "@cem/core";
import type { Elicit, JsonValue, Redactor } from "@cem/core";
import { checkValue, fieldsOf, holds, isEmpty } from "../form/field-values.ts";
import type { FieldValue } from "../form/field-values.ts";
import type { Form, FormField } from "../form/form-schema.ts";
import type { CheckFiles } from "../targets/workspace-files.ts";

/** The values of a form as they come in, each checked once. */
export class CollectedValues {
  readonly values = new Map<string, FieldValue>();
  /** Faults of given values, by field. */
  readonly faults = new Map<string, string>();
  readonly #form: Form;
  readonly #personal: PersonalValues;
  readonly #checkFiles: CheckFiles;
  readonly #byName: ReadonlyMap<string, FormField>;

  constructor(form: Form, personal: PersonalValues, checkFiles: CheckFiles) {
    this.#form = form;
    this.#personal = personal;
    this.#checkFiles = checkFiles;
    this.#byName = new Map(form.fields.map((field) => [field.name, field]));
  }

  /** Takes what is given for a field; a value that is not fit is noted as its fault. */
  async take(name: string, given: unknown): Promise<void> {
    const field = this.#byName.get(name);
    if (field === undefined) return void this.faults.set(name, "is no field of this form");
    if (isEmpty(given)) return;
    const fault = await this.#set(field, given);
    if (fault === undefined) this.faults.delete(name);
    else this.faults.set(name, fault);
  }

  /** Takes the defaults of fields that have no value yet. @returns whether there were any. */
  async takeDefaults(): Promise<boolean> {
    const open = this.applicable().filter((field) => !isEmpty(field.default) && !this.has(field.name));
    for (const field of open) await this.take(field.name, field.default);
    // They may meet the conditions of others.
    if (open.length > 0) await this.takeDefaults();
    return open.length > 0;
  }

  /** Whether a field was given a value, be it fit or not. */
  has(name: string): boolean {
    return this.values.has(name) || this.faults.has(name);
  }

  /** The fields that the conditions leave, in the order of the form. */
  applicable(): FormField[] {
    const known = new Map<string, boolean>();
    const applies = (field: FormField): boolean => {
      let answer = known.get(field.name);
      if (answer !== undefined) return answer;
      const { when } = field;
      const values = new Map(this.values);
      // A field that does not apply counts as empty.
      for (const name of when === undefined ? [] : fieldsOf(when)) {
        const other = this.#byName.get(name);
        if (other !== undefined && !applies(other)) values.delete(name);
      }
      answer = when === undefined || holds(when, values, (name) => this.#byName.get(name)?.type);
      known.set(field.name, answer);
      return answer;
    };
    return this.#form.fields.filter(applies);
  }

  /** The fields that are required and have no value. */
  missing(): FormField[] {
    return this.applicable().filter(({ name, required }) => required && !this.has(name));
  }

  async #set(field: FormField, given: unknown): Promise<string | undefined> {
    let clear: JsonValue;
    try {
      clear = await this.#personal.restore(given as JsonValue);
    } catch (error) {
      return whyNotRestored(toErrorInfo(error).code);
    }
    const checked = checkValue(field, clear);
    if (!checked.ok) return checked.fault;
    const { value } = checked;
    if (field.type === "file" && Array.isArray(value)) {
      const fault = await this.#checkFiles(field, value);
      if (fault !== undefined) return fault;
    }
    this.values.set(field.name, value);
    return undefined;
  }
}

function whyNotRestored(code: string): string {
  if (code === "TOKEN_UNKNOWN")
    return "has a token that stands for no value of this session; get the value again";
  return code === "FLOW_DENIED" ? "must not go to this form: a rule keeps it" : `can't be read (${code})`;
}

/** Keeps personal values out of everything but the target of a form. */
export interface PersonalValues {
  /** Puts values in the place of tokens. Rejects with `TOKEN_UNKNOWN` or `FLOW_DENIED`. */
  restore(data: JsonValue): Promise<JsonValue>;
  /** Keeps a value of a known type, and returns its token; `undefined` where values can't be kept. */
  keep(value: string | number, type: string): string | undefined;
  /** Puts tokens in the place of whatever personal values are in data. */
  conceal(data: JsonValue): Promise<JsonValue>;
}

/** The server under which rules of data flow know forms; the tool is the form's name. */
export const FORM_SERVER = "form";

/** The values of one session of a redactor. */
export function personalValuesOf(
  redactor: Redactor,
  target: {
    session?: string | undefined;
    tool: string;
    elicit?: Elicit | undefined;
    signal?: AbortSignal | undefined;
  },
): PersonalValues {
  const { session } = target;
  return {
    restore: (data) => redactor.detokenize(data, { server: FORM_SERVER, ...target }),
    keep: (value, type) => redactor.keep(value, type, { session }),
    conceal: (data) => tokenizeInTurns(redactor, data, { session }),
  };
}
