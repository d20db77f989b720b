import { clientTrace, failSpan, instruments, traced } from "@cem/core/telemetry";
import type { ClientTrace } from "@cem/core/telemetry";
import type { CallToolResult, InputRequiredResult, ServerContext } from "@modelcontextprotocol/server";

const MS_PER_SECOND = 1_000;

/** Answers the call of a tool within a span, in the trace of its client or in one that links to it. */
export function traceRequest(
  tool: string,
  { http, mcpReq, sessionId }: ServerContext,
  mode: ClientTrace,
  answer: () => Promise<CallToolResult | InputRequiredResult>,
): Promise<CallToolResult | InputRequiredResult> {
  const transport = http === undefined ? "pipe" : "tcp";
  const attributes = {
    "mcp.method.name": "tools/call",
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": tool,
    "jsonrpc.request.id": String(mcpReq.id),
    "network.transport": transport,
    ...(sessionId === undefined ? {} : { "mcp.session.id": sessionId }),
  };
  const { _meta: meta } = mcpReq;
  const { parent, links } = clientTrace({ meta, headers: http?.req?.headers }, mode);
  const started = performance.now();
  return traced(`tools/call ${tool}`, { kind: "server", attributes, parent, links }, async (span) => {
    const answered = await answer();
    if (answered["isError"] === true) failSpan(span, "tool_error");
    return answered;
  }).finally(() =>
    instruments().serverOperation.record((performance.now() - started) / MS_PER_SECOND, {
      "mcp.method.name": "tools/call",
      "gen_ai.tool.name": tool,
      "network.transport": transport,
    }),
  );
}
