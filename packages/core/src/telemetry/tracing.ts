import { toErrorInfo } from "../errors.ts";
import type { Attributes, Context, Link, Span, SpanKind } from "@opentelemetry/api";
import { registeredApi } from "./api.ts";
import { NO_SPAN } from "./no-span.ts";

/** The scope of all spans and metrics of the project. */
export const SCOPE = "code-execution-mcp";

/** Settings of {@link traced}. */
export interface SpanSettings {
  /** @defaultValue `internal` */
  kind?: keyof typeof KINDS | undefined;
  /** Names and numbers only: never what a person, code or a tool wrote. */
  attributes?: Attributes | undefined;
  /** @defaultValue the active context */
  parent?: Context | undefined;
  links?: Link[] | undefined;
}

const KINDS = {
  internal: "INTERNAL",
  server: "SERVER",
  client: "CLIENT",
  producer: "PRODUCER",
  consumer: "CONSUMER",
} as const satisfies Record<string, keyof typeof SpanKind>;

/**
 * Does work within a span. What it throws ends the span as failed, by the error's code: messages may contain values.
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
  const options = { kind: api.SpanKind[KINDS[kind]], attributes, links };
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

/** Keeps the active trace for work that is begun elsewhere, such as by a message of a guest. */
export function keepTrace(): <T>(work: () => T) => T {
  const api = registeredApi();
  if (api === undefined) return (work) => work();
  const kept = api.context.active();
  return (work) => api.context.with(kept, work);
}
