import { toErrorInfo } from "@cem/core";
import { context, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import type { Attributes, Context, Link, Span } from "@opentelemetry/api";

/** The scope of all spans and metrics of the project. */
export const SCOPE = "code-execution-mcp";

const tracer = trace.getTracer(SCOPE);

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
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
} as const;

/**
 * Does work within a span. What it throws ends the span as failed, by the error's code: messages may tell values.
 *
 * @returns what the work returns.
 */
export function traced<T>(
  name: string,
  { kind = "internal", attributes = {}, parent = context.active(), links = [] }: SpanSettings,
  work: (span: Span) => Promise<T>,
): Promise<T> {
  return tracer.startActiveSpan(name, { kind: KINDS[kind], attributes, links }, parent, async (span) => {
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

/** Marks what a span tells of as failed. */
export function failSpan(span: Span, errorType: string): void {
  span.setAttribute("error.type", errorType);
  span.setStatus({ code: SpanStatusCode.ERROR });
}

/** Keeps the active trace for work that is begun elsewhere, such as by a message of a guest. */
export function keepTrace(): <T>(work: () => T) => T {
  const kept = context.active();
  return (work) => context.with(kept, work);
}
