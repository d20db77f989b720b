import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

/** A span as OTLP's JSON has it. */
export interface ReceivedSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  attributes: { key: string; value: Record<string, unknown> }[];
  links?: { traceId: string }[];
  /** Of the process that sent it. */
  process: number;
}

interface Otlp {
  resourceSpans?: {
    resource: { attributes: { key: string; value: { intValue?: number } }[] };
    scopeSpans: { scope: { name: string }; spans: ReceivedSpan[] }[];
  }[];
  resourceMetrics?: { scopeMetrics: { metrics: { name: string }[] }[] }[];
}

/** Receives OTLP over HTTP, as JSON. */
export async function startReceiver(): Promise<{
  url: string;
  spans: ReceivedSpan[];
  metrics: Set<string>;
  text: () => string;
  close: () => void;
}> {
  const spans: ReceivedSpan[] = [];
  const metrics = new Set<string>();
  const bodies: string[] = [];
  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await json(request);
    bodies.push(JSON.stringify(body));
    const { resourceSpans = [], resourceMetrics = [] } = body as Otlp;
    for (const { resource, scopeSpans } of resourceSpans) {
      const process = resource.attributes.find(({ key }) => key === "process.pid")?.value.intValue ?? 0;
      for (const { spans: found } of scopeSpans) spans.push(...found.map((span) => ({ ...span, process })));
    }
    for (const { scopeMetrics } of resourceMetrics) {
      for (const { name } of scopeMetrics.flatMap((scope) => scope.metrics)) metrics.add(name);
    }
    response.setHeader("content-type", "application/json").end("{}");
  };
  const server = createServer((request, response) => void receive(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    metrics,
    text: () => bodies.join("\n"),
    close: () => server.close(),
  };
}
