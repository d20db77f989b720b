import type { JsonObject } from "./json.ts";

/** A question to the user, while a tool runs. All texts come from the tool's server. */
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
  | { action: "accept"; content?: Record<string, string | number | boolean | string[]> | undefined }
  | { action: "decline" }
  | { action: "cancel" };

/** Asks the user. Throwing counts as `cancel`. */
export type Elicit = (request: ElicitRequest) => Promise<ElicitAnswer>;
