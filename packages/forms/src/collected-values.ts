import { toErrorInfo } from "@cem/core";
import type { JsonValue } from "@cem/core";
import { fieldsOf, holds } from "./conditions.ts";
import type { FieldValue } from "./conditions.ts";
import { checkValue, isEmpty } from "./field-values.ts";
import type { Form, FormField } from "./form-schema.ts";
import type { PersonalValues } from "./personal-values.ts";

/** Looks at the files that a field names. @returns what is wrong with them: a clause. */
export type CheckFiles = (field: FormField, paths: readonly string[]) => Promise<string | undefined>;

/** The values of a form as they come in, each checked once. */
export class CollectedValues {
  readonly values = new Map<string, FieldValue>();
  /** What is wrong with values that were given, by field. */
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

  /** Takes the defaults of fields that have no value yet. */
  async takeDefaults(): Promise<void> {
    for (const field of this.applicable()) {
      if (field.default !== undefined && !this.has(field.name)) await this.take(field.name, field.default);
    }
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
      answer = when === undefined || holds(when, values);
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
