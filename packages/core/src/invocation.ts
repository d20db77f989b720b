import type { Elicit } from "./elicitation.ts";
import type { ErrorInfo } from "./errors.ts";
import type { JsonValue } from "./json.ts";

/** A call that guest code makes to a tool behind the bridge. All of it is untrusted. */
export interface ToolCall {
  server: string;
  tool: string;
  args: JsonValue;
}

export type ToolResult = { ok: true; value: JsonValue } | { ok: false; error: ErrorInfo };

export interface InvokeContext {
  signal: AbortSignal;
  /** Told `true` when a person has been asked something and `false` once they have answered; the run's clock stands still between. */
  onWaiting?: ((waiting: boolean) => void) | undefined;
  /** Asks the user whose run it is. Absent: the run has none of its own. */
  elicit?: Elicit | undefined;
  /** Whose run it is: two sessions may be two users. */
  session?: string | undefined;
}

/** The host side of the bridge. Must not throw for a call that merely fails: that is a result. */
export interface ToolInvoker {
  readonly specificationVersion: "v1";
  invoke(call: ToolCall, context: InvokeContext): Promise<ToolResult>;
}

/** What is kept of a call, whether its tool ran in the guest or behind the bridge. */
export interface ToolCallRecord {
  server: string;
  tool: string;
  ms: number;
  ok: boolean;
  /** The beginning of the arguments as JSON. Left out of results: only a model that mends its code is told. */
  args?: string | undefined;
  /** The beginning of what it resolved to, as JSON. Left out of results likewise. */
  result?: string | undefined;
  /** Why a tool on the host failed. Left out of results likewise. */
  error?: ErrorInfo | undefined;
}
