import { createRequire } from "node:module";
import type * as Api from "@opentelemetry/api";
import type { Span, Attributes, Context, Link, SpanKind } from "@opentelemetry/api";
import { toErrorInfo } from "../errors.ts";
import { abandonOnAbort } from "../promises.ts";

/** Where every copy of the API keeps what an SDK has registered. */
const REGISTERED = Symbol.for("opentelemetry.js.api.1");

let api: typeof Api | undefined;

/** OpenTelemetry's API. `undefined` without an SDK: it is not loaded then, which takes longer than many runs. */
export function registeredApi(): typeof Api | undefined {
  if (api === undefined && REGISTERED in globalThis)
    api = createRequire(import.meta.url)("@opentelemetry/api") as typeof Api;
  return api;
}

/** A no-op span, for when nothing is traced. */
const NO_SPAN: Span = {
  spanContext: () => ({ traceId: "0".repeat(32), spanId: "0".repeat(16), traceFlags: 0 }),
  setAttribute: () => NO_SPAN,
  setAttributes: () => NO_SPAN,
  addEvent: () => NO_SPAN,
  addLink: () => NO_SPAN,
  addLinks: () => NO_SPAN,
  setStatus: () => NO_SPAN,
  updateName: () => NO_SPAN,
  end: () => {},
  isRecording: () => false,
  recordException: () => {},
};

/** The scope of all spans and metrics of the project. */
export const SCOPE = "code-execution-mcp";

export interface SpanSettings {
  /** @defaultValue `internal` */
  kind?: Lowercase<keyof typeof SpanKind> | undefined;
  /** Names and numbers only: never what a person, code or a tool wrote. */
  attributes?: Attributes | undefined;
  /** @defaultValue the active context */
  parent?: Context | undefined;
  links?: Link[] | undefined;
}

/**
 * Runs work within a span. A thrown error marks the span as failed by its code alone: messages may contain values.
 *
 * @returns the result of the work.
 */
export function traced<T>(
  name: string,
  { kind = "internal", attributes = {}, parent, links = [] }: SpanSettings,
  work: (span: Span) => Promise<T>,
): Promise<T> {
  const api = registeredApi();
  if (api === undefined) return work(NO_SPAN);
  const kindName = kind.toUpperCase() as Uppercase<typeof kind>;
  const options = { kind: api.SpanKind[kindName], attributes, links };
  const around = parent ?? api.context.active();
  return api.trace.getTracer(SCOPE).startActiveSpan(name, options, around, async (span) => {
    try {
      return await work(span);
    } catch (error) {
      failSpan(span, toErrorInfo(error).code);
      throw error;
    } finally {
      span.end();
    }
  });
}

/** Marks a span as failed. */
export function failSpan(span: Span, errorType: string): void {
  const api = registeredApi();
  if (api === undefined) return;
  span.setAttribute("error.type", errorType);
  span.setStatus({ code: api.SpanStatusCode.ERROR });
}

/** Preserves the active trace context for work that is started elsewhere, such as by a message of a guest. */
export function keepTrace(): <T>(work: () => T) => T {
  const api = registeredApi();
  if (api === undefined) return (work) => work();
  const kept = api.context.active();
  return (work) => api.context.with(kept, work);
}

/** How long an unresponsive collector may delay the end of a process. */
const FLUSH_MS = 3_000;

interface Flushable {
  forceFlush?: () => Promise<void>;
  getDelegate?: () => Flushable;
}

/** Flushes the SDK before the process or its thread ends. Resolves when there is no SDK. */
export async function flushTelemetry(): Promise<void> {
  const api = registeredApi();
  if (api === undefined) return;
  const providers: Flushable[] = [
    api.trace.getTracerProvider() as object,
    api.metrics.getMeterProvider() as object,
  ];
  const flushes = providers
    .map((provider) => (provider.getDelegate?.() ?? provider).forceFlush?.())
    .filter((flush) => flush !== undefined);
  if (flushes.length === 0) return;
  await abandonOnAbort(Promise.allSettled(flushes), AbortSignal.timeout(FLUSH_MS)).catch(() => {});
}
