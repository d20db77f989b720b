import path from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { startRedis } from "../../../packages/store/test/redis-server.ts";
import { startReceiver } from "./testing/otlp-receiver.ts";
import type { ReceivedSpan } from "./testing/otlp-receiver.ts";
import { connectClient, JOBS, queueProject } from "./testing/queue-machines.ts";
import { describeWith } from "../../../vitest.tools.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const CLIENT_SPAN = "00f067aa0ba902b7";
const SECRET = "ada@example.com";
const CODE = `${JOBS} return await look({ id: "${SECRET}" });`;

/** The names from a span up to the client's. */
function upFrom(span: ReceivedSpan, spans: readonly ReceivedSpan[]): string[] {
  const parent = spans.find(({ spanId }) => spanId === span.parentSpanId);
  return [span.name, ...(parent === undefined ? [span.parentSpanId ?? ""] : upFrom(parent, spans))];
}

describeWith("redis-server")("a trace over machines", () => {
  const set = async (server: Record<string, string> = {}) => {
    const [redis, receiver] = await Promise.all([startRedis(), startReceiver()]);
    onTestFinished(() => redis.stop());
    onTestFinished(receiver.close);
    const register = pathToFileURL(path.join(import.meta.dirname, "testing/register-telemetry.ts")).href;
    const env = {
      NODE_OPTIONS: `--import=${register}`,
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_NODE_RESOURCE_DETECTORS: "process",
      OTEL_METRICS_EXPORTER: "otlp",
      OTEL_LOGS_EXPORTER: "none",
      // So late that all that arrives was sent at the end.
      OTEL_BSP_SCHEDULE_DELAY: "600000",
      OTEL_METRIC_EXPORT_INTERVAL: "600000",
    };
    const project = await queueProject(redis.url, { env, server });
    const [, url] = await Promise.all([project.work(), project.serve()]);
    const client = await connectClient(url);
    return { project, receiver, client };
  };

  it("goes from a client by server, queue, worker, guest and call to the tool's server, and is sent at SIGTERM", async () => {
    const { project, receiver, client } = await set();
    const meta = { traceparent: `00-${TRACE}-${CLIENT_SPAN}-01`, baggage: "user=ada" };
    expect(await client.execute(CODE, meta)).toMatchObject({ success: true });
    await client.close();
    await project.stop();
    const spans = receiver.spans.filter(({ traceId }) => traceId === TRACE);
    const call = spans.find(({ name }) => name === "tools/call look");
    expect(call && upFrom(call, spans)).toEqual([
      "tools/call look",
      "execute_tool look",
      "cem.guest",
      "cem.stage run",
      "cem.run code",
      "process runs",
      "send runs",
      "tools/call execute_code",
      CLIENT_SPAN,
    ]);
    expect(project.traceParents()).toEqual([`00-${TRACE}-${call?.spanId}-01`]);
    expect(new Set(spans.map((span) => span.process)).size).toBe(2);
    expect([...receiver.metrics]).toEqual(
      expect.arrayContaining(["cem.runs", "cem.run.duration", "cem.queue.wait.duration", "cem.guests"]),
    );
    expect(receiver.text()).not.toMatch(/ada|jobs\.log/iu);
  });

  it("begins anew, with a link, where clients are not trusted with it", async () => {
    const { project, receiver, client } = await set({ client_trace: "link" });
    const meta = { traceparent: `00-${TRACE}-${CLIENT_SPAN}-01` };
    expect(await client.execute(CODE, meta)).toMatchObject({ success: true });
    await client.close();
    await project.stop();
    expect(receiver.spans.filter(({ traceId }) => traceId === TRACE)).toEqual([]);
    const served = receiver.spans.find(({ name }) => name === "tools/call execute_code");
    expect(served?.links?.map(({ traceId }) => traceId)).toEqual([TRACE]);
    expect(served?.parentSpanId ?? "").toBe("");
  });
});
