import type { Context, Link } from "@opentelemetry/api";
import { registeredApi, type SpanSettings } from "./tracing.ts";

/** A trace context in a message, in the format of W3C Trace Context. Without baggage, which may contain personal data. */
export interface TraceCarrier {
  traceparent: string;
  tracestate?: string | undefined;
}

/** Treatment of a client's trace. `join`: spans are added to it. `link`: a trace of our own links to it. */
export type ClientTrace = "join" | "link";

const MAX_STATE_CHARACTERS = 512;

/** The active trace context. `undefined` when nothing is traced. */
export function traceCarrier(): TraceCarrier | undefined {
  const api = registeredApi();
  if (api === undefined) return undefined;
  const written: Record<string, unknown> = {};
  api.propagation.inject(api.context.active(), written);
  return carrierIn(written);
}

/** The trace context that a message names, from any author. `undefined` when nothing is traced. */
export function contextOf(carrier: TraceCarrier | undefined): Context | undefined {
  const api = registeredApi();
  if (api === undefined || carrier === undefined) return api?.ROOT_CONTEXT;
  return api.propagation.extract(api.ROOT_CONTEXT, carrier);
}

/** Parent and links of the span for a client's request. */
export function clientTrace(
  { meta, headers }: { meta: unknown; headers?: Headers | undefined },
  mode: ClientTrace,
): Pick<SpanSettings, "parent" | "links"> {
  const api = registeredApi();
  if (api === undefined) return {};
  const { context, ROOT_CONTEXT, trace } = api;
  const ambient = trace.getSpanContext(context.active());
  const fromMeta = remoteIn(meta);
  const [traceparent, tracestate] = ["traceparent", "tracestate"].map((name) => headers?.get(name));
  const fromHeaders = ambient === undefined ? remoteIn({ traceparent, tracestate }) : undefined;
  const remote = fromMeta ?? fromHeaders;
  const other = fromMeta === undefined ? undefined : ambient;
  if (mode === "link")
    return { parent: ROOT_CONTEXT, links: linksTo([remote && trace.getSpanContext(remote), ambient]) };
  return { parent: remote ?? context.active(), links: linksTo([other]) };
}

function remoteIn(values: unknown): Context | undefined {
  const api = registeredApi();
  const found = contextOf(carrierIn(values));
  const span = found && api?.trace.getSpanContext(found);
  return span !== undefined && api?.isSpanContextValid(span) === true ? found : undefined;
}

function carrierIn(values: unknown): TraceCarrier | undefined {
  if (typeof values !== "object" || values === null) return undefined;
  const { traceparent, tracestate } = values as Record<string, unknown>;
  if (typeof traceparent !== "string") return undefined;
  const isState = typeof tracestate === "string" && tracestate.length <= MAX_STATE_CHARACTERS;
  return isState ? { traceparent, tracestate } : { traceparent };
}

function linksTo(spans: readonly (Link["context"] | undefined)[]): Link[] {
  return spans.filter((span) => span !== undefined).map((span) => ({ context: span }));
}
