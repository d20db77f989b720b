import type { JsonObject } from "@cem/core";

/** A question of a server to the user, while one of its tools runs. All texts come from the server. */
export type ElicitRequest = { server: string; message: string; signal: AbortSignal } & (
  | {
      mode: "form";
      /** A flat JSON Schema of what is asked for. */
      requestedSchema: JsonObject;
    }
  /** The user is to open the address, for what must not pass through here. Always http or https. */
  | { mode: "url"; url: string }
);

export type ElicitAnswer =
  | { action: "accept"; content?: Record<string, string | number | boolean | string[]> }
  | { action: "decline" }
  | { action: "cancel" };

/** Asks the user. Throwing counts as `cancel`. */
export type Elicit = (request: ElicitRequest) => Promise<ElicitAnswer>;

/** How long a person has to answer. */
export const DEFAULT_ELICIT_TIMEOUT_MS = 10 * 60_000;

/** A `file:` or `javascript:` address must never reach a browser. */
export function isSafeUrl(url: unknown): url is string {
  return typeof url === "string" && URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}
