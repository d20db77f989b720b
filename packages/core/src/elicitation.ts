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

/** The user's answer: values, a refusal, or a question that was dismissed. */
export type ElicitAnswer =
  | {
      action: "accept";
      /** The values of a form, by property. Absent for `url`. */
      content?: Record<string, string | number | boolean | string[]> | undefined;
    }
  | { action: "decline" }
  | { action: "cancel" };

/** Asks the user a tool's question. A rejection counts as `cancel`. */
export type Elicit = (request: ElicitRequest) => Promise<ElicitAnswer>;
