import { spawnSync } from "node:child_process";
import path from "node:path";
import { context, propagation, ROOT_CONTEXT, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { CompositePropagator, W3CBaggagePropagator, W3CTraceContextPropagator } from "@opentelemetry/core";
import { CemError } from "../errors.ts";
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { clientTrace, contextOf, flushTelemetry, keepTrace, traceCarrier, traced } from "./index.ts";

const THEIRS = "4bf92f3577b34da6a3ce929d0e0e4736";
const meta = { traceparent: `00-${THEIRS}-00f067aa0ba902b7-01` };

describe("without an SDK", () => {
  it("does the work and carries nothing, and loads none of the API", () => {
    const index = path.join(import.meta.dirname, "index.ts");
    const program = `
      import { createRequire } from "node:module";
      import { clientTrace, contextOf, flushTelemetry, measure, keepTrace, traced } from ${JSON.stringify(index)};
      measure("runs", 1);
      await flushTelemetry();
      const value = await traced("work", clientTrace({ meta: {} }, "join"), async (span) => keepTrace()(() => span.isRecording()));
      const require = createRequire(${JSON.stringify(index)});
      const loaded = Object.keys(require.cache).filter((file) => file.includes("opentelemetry"));
      console.log(JSON.stringify({ value, context: contextOf(undefined) ?? null, loaded }));`;
    const { stdout } = spawnSync(
      process.execPath,
      ["--conditions=@cem/source", "--input-type=module", "--eval", program],
      { encoding: "utf8" },
    );
    expect(JSON.parse(stdout)).toEqual({ value: false, context: null, loaded: [] });
  });
  it("carries no trace", async () => {
    expect(await traced("work", {}, async () => traceCarrier())).toBeUndefined();
    await flushTelemetry();
  });
});

describe("with an SDK", () => {
  const exporter = new InMemorySpanExporter();
  beforeAll(() => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    const propagators = [new W3CTraceContextPropagator(), new W3CBaggagePropagator()];
    propagation.setGlobalPropagator(new CompositePropagator({ propagators }));
    const spanProcessors = [new SimpleSpanProcessor({ exporter })];
    trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors }));
  });
  afterAll(() => {
    trace.disable();
    propagation.disable();
    context.disable();
  });
  beforeEach(() => exporter.reset());

  const served = async (request: Parameters<typeof clientTrace>[0], mode: "join" | "link") => {
    await traced("served", clientTrace(request, mode), async () => {});
    await flushTelemetry();
    return exporter.getFinishedSpans().find(({ name }) => name === "served");
  };

  it("tells an error's code, not its message", async () => {
    const failing = traced("work", {}, () => Promise.reject(new CemError("TOOL_FAILED", "Ada is not in.")));
    await expect(failing).rejects.toThrow("Ada");
    await flushTelemetry();
    const [span] = exporter.getFinishedSpans();
    expect(span).toMatchObject({ attributes: { "error.type": "TOOL_FAILED" }, events: [] });
    expect(span?.status).toEqual({ code: 2 });
  });

  it("brings work that a message begins into the trace", async () => {
    await traced("outer", {}, async () => {
      const inTrace = keepTrace();
      await context.with(ROOT_CONTEXT, () => inTrace(() => traced("inner", {}, async () => {})));
    });
    await flushTelemetry();
    const [inner, outer] = exporter.getFinishedSpans();
    expect(inner?.parentSpanContext?.spanId).toBe(outer?.spanContext().spanId);
  });

  it("carries no baggage", async () => {
    const entries = propagation.createBaggage({ user: { value: "ada" } });
    const carrier = await context.with(propagation.setBaggage(ROOT_CONTEXT, entries), () =>
      traced("work", {}, async () => traceCarrier()),
    );
    expect(Object.keys(carrier ?? {})).toEqual(["traceparent"]);
    expect(trace.getSpanContext(contextOf(carrier) ?? ROOT_CONTEXT)?.isRemote).toBe(true);
  });

  it("joins a client's trace by _meta, else by HTTP headers, and links what is around it", async () => {
    expect((await served({ meta }, "join"))?.spanContext().traceId).toBe(THEIRS);
    exporter.reset();
    expect((await served({ meta: {}, headers: new Headers(meta) }, "join"))?.spanContext().traceId).toBe(
      THEIRS,
    );
    exporter.reset();
    const around = await traced("http", {}, async (span) => {
      await served({ meta }, "join");
      return span.spanContext().traceId;
    });
    const [span] = exporter.getFinishedSpans();
    expect(span?.spanContext().traceId).toBe(THEIRS);
    expect(span?.links.map((link) => link.context.traceId)).toEqual([around]);
  });

  it("begins a trace that links to the client's, whatever was joined around it", async () => {
    const span = await served({ meta }, "link");
    expect(span?.spanContext().traceId).not.toBe(THEIRS);
    expect(span?.parentSpanContext).toBeUndefined();
    expect(span?.links.map((link) => link.context.traceId)).toEqual([THEIRS]);
  });

  it.each([
    undefined,
    null,
    7,
    "00",
    { traceparent: 7 },
    { traceparent: ["00-1-2-01"] },
    { traceparent: "" },
    { traceparent: `00-${"0".repeat(32)}-00f067aa0ba902b7-01` },
    { traceparent: `ff-${THEIRS}-00f067aa0ba902b7-01` },
    { traceparent: `00-${THEIRS}-00f067aa0ba902b7-01-more` },
    { traceparent: "0".repeat(1_000_000) },
    { traceparent: `00-${THEIRS.toUpperCase()}-00f067aa0ba902b7-01` },
  ])("takes %j for no trace", async (hostile) => {
    const span = await served({ meta: hostile }, "join");
    expect(span?.parentSpanContext).toBeUndefined();
    expect(span?.links).toEqual([]);
  });

  it("leaves out a state that is too long", async () => {
    const span = await served({ meta: { ...meta, tracestate: `a=${"b".repeat(600)}` } }, "join");
    expect(span?.spanContext().traceId).toBe(THEIRS);
    expect(span?.spanContext().traceState).toBeUndefined();
  });
});
