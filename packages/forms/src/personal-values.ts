import type { Elicit, JsonValue, Redactor } from "@cem/core";

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
    async conceal(data) {
      await redactor.recognize?.(data, { session });
      return redactor.tokenize(data, { session });
    },
  };
}
