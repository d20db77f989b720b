import { createRequire } from "node:module";
import type * as Api from "@opentelemetry/api";

/** Where the API, whichever copy of it, keeps what an SDK has registered. */
const REGISTERED = Symbol.for("opentelemetry.js.api.1");

let api: typeof Api | undefined;

/**
 * OpenTelemetry's API. `undefined` where no SDK has registered with it, since loading it takes longer than many a run.
 */
export function registeredApi(): typeof Api | undefined {
  if (api === undefined && REGISTERED in globalThis)
    api = createRequire(import.meta.url)("@opentelemetry/api") as typeof Api;
  return api;
}
