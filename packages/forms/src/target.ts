import type { FieldValue } from "./conditions.ts";
import type { Form, FormField } from "./form-schema.ts";

/** A field with the value it is to get. */
export interface FilledField {
  field: FormField;
  /** In clear: targets are the one place for that. */
  value: FieldValue;
  /** The token of a personal text, for calls on whose way tokens become values. */
  token?: string | undefined;
  /** Whether the value must not be shown anywhere but in the target. */
  isPersonal: boolean;
}

/** What a target is asked to do. */
export interface FillRequest {
  form: Form;
  fields: readonly FilledField[];
  signal: AbortSignal;
  /** Whether to fill in and compare, and send nothing. */
  isTrial: boolean;
}

/** What a target holds after filling, field by field. */
export interface FieldReading {
  name: string;
  /** What was read back, in clear. Absent where the target has no way to tell. */
  value?: FieldValue | undefined;
  /** Whether that is what was filled in. */
  matches: boolean;
}

/** Why a field was not filled. `message` is a clause and has nothing of the target's own text. */
export interface TargetProblem {
  /** Absent for what is about the whole target. */
  field?: string | undefined;
  message: string;
}

/** What filling a target came to. */
export interface FillOutcome {
  readings: FieldReading[];
  problems: TargetProblem[];
  /** Files that were written: screenshots, or the filled document. Absolute paths. */
  screenshots: string[];
  output?: string | undefined;
  /** Whether the form was sent. */
  submitted: boolean;
  /** What a tool returned. */
  result?: unknown;
}

/** Something that forms fill. */
export interface FormTarget {
  readonly specificationVersion: "v1";
  /**
   * Fills fields, reads them back and compares.
   *
   * @throws CemError where the target can't be opened at all.
   */
  fill(request: FillRequest): Promise<FillOutcome>;
}
