import type { JsonValue, JsonObject } from "./json.ts";
import type { ToolAnnotations } from "./tools.ts";

/** The question whether one call may be made. The arguments come from the code and are untrusted. */
export interface ApprovalRequest {
  server: string;
  tool: string;
  /** The arguments as the tool would get them. */
  args: JsonValue;
  /** Why a person is asked: a clause, such as `its server marks it as destructive`. */
  reason: string;
  annotations?: ToolAnnotations | undefined;
  session?: string | undefined;
  /** Aborts when the run ends and the answer is no longer needed. */
  signal: AbortSignal;
}

/** A call in a program that needs approval. */
export interface PlannedCall {
  server: string;
  /** The name that the tool's server uses. */
  tool: string;
  /** The arguments, where the program states them. Absent: the program computes them. */
  args?: JsonValue | undefined;
}

/** `once`: this call alone. `session`: this tool for the rest of the session. `no`, like no answer: the call is refused. */
export type ApprovalAnswer = "once" | "session" | "no";

/** Asks a person whether a call may be made. A rejection counts as no. */
export type Approve = (request: ApprovalRequest) => Promise<ApprovalAnswer>;

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
      /** Asks the user to open a page and enter there what must not pass through this program, such as a password. */
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

/** Creates the answer for when nobody could be asked: the user has neither accepted nor declined anything. */
export function nobodyAsked(why: string): ElicitAnswer & { action: "cancel"; reason: string } {
  return { action: "cancel", reason: `Nobody could be asked: ${why}.` };
}

/** Asks the user a tool's question. A rejection counts as `cancel`. */
export type Elicit = (request: ElicitRequest) => Promise<ElicitAnswer>;

/** A request of a tool's server for a completion by the model of the user's client (MCP sampling). Untrusted. */
export interface SampleRequest {
  server: string;
  /** The parameters of `sampling/createMessage`, as the server sent them. */
  params: JsonObject;
  /** Aborts when the call ends and the answer is no longer needed. */
  signal: AbortSignal;
}

/**
 * Passes a sampling request to the user's client.
 *
 * @returns the result of `sampling/createMessage`.
 * @throws an error whose message says, in a sentence, why sampling is not possible.
 */
export type Sample = (request: SampleRequest) => Promise<JsonObject>;
