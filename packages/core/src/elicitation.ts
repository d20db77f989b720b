import type { JsonObject } from "./json.ts";

/**
 * A question that a tool asks the user while it runs (MCP elicitation). The texts come from the tool's server and are
 * untrusted.
 */
export type ElicitRequest = {
  server: string;
  message: string;
  /** Aborts when the call ends and the answer is no longer needed. */
  signal: AbortSignal;
} & (
  | {
      mode: "form";
      /** A flat JSON Schema of the values to ask for. */
      requestedSchema: JsonObject;
    }
  | {
      /** The user is to open a page, to enter there what must not pass through this program, such as a password. */
      mode: "url";
      /** An http or https URL. */
      url: string;
    }
);

/** The user's answer: values, a refusal, or a question that was dismissed or that nobody could be asked. */
export type ElicitAnswer =
  | {
      action: "accept";
      /** The values of a form, by property. Absent for `url`. */
      content?: Record<string, string | number | boolean | string[]> | undefined;
    }
  | { action: "decline" }
  | {
      action: "cancel";
      /** Why nobody could be asked: a sentence. Absent where the user dismissed the question. */
      reason?: string | undefined;
    };

/** The answer where nobody could be asked: the user has neither accepted nor declined anything. */
export function nobodyAsked(why: string): ElicitAnswer & { action: "cancel"; reason: string } {
  return { action: "cancel", reason: `Nobody could be asked: ${why}.` };
}

/** Asks the user a tool's question. A rejection counts as `cancel`. */
export type Elicit = (request: ElicitRequest) => Promise<ElicitAnswer>;
