import { CemError } from "@cem/core";
import type { JsonSchema } from "@cem/core";
import { createMcpConnections, SERVER_REQUESTS } from "@cem/mcp-client";
import type { JsonObject, JsonValue } from "@cem/core";
import type { AuthSettings, McpServerSettings } from "@cem/mcp-client";
import { z } from "zod";
import { createMcpInvoker } from "../fixtures/invoker.ts";

/**
 * The client that the conformance tool runs: `conformance-client.ts <url>`. It does with @cem/mcp-client what
 * an agent's code would do: list everything, call every tool, read and render what there is, and sign in
 * where that is asked for.
 */
const MAX_SIGN_INS = 3;
const contextSchema = z.looseObject({
  toolCalls: z.array(z.object({ name: z.string(), arguments: z.looseObject({}) })).optional(),
  client_id: z.string().optional(),
  client_secret: z.string().optional(),
});

const url = process.argv.at(-1) ?? "";
const scenario = process.env["MCP_CONFORMANCE_SCENARIO"] ?? "";
const version = process.env["MCP_CONFORMANCE_PROTOCOL_VERSION"] ?? "";
const context = contextSchema.parse(JSON.parse(process.env["MCP_CONFORMANCE_CONTEXT"] ?? "{}"));
const signal = AbortSignal.timeout(120_000);

const auth: AuthSettings = {
  kind: "authorization-code",
  clientMetadataUrl: "https://conformance-test.local/client-metadata.json",
  clientId: context.client_id,
  clientSecret: context.client_secret,
};
const protocol: McpServerSettings["protocol"] =
  version === "" ? "auto" : version === "2026-07-28" ? version : "legacy";
const connections = createMcpConnections({
  servers: [{ name: "test", transport: { kind: "http", url }, auth, protocol, connectTimeoutMs: 120_000 }],
  log: ({ level, message }) => process.stderr.write(`${level}: ${message}\n`),
  elicit: async () => ({ action: "accept", content: {} }),
});

/** A browser that agrees to everything. */
async function openBrowser(target: string): Promise<void> {
  const response = await fetch(target, { redirect: "manual" });
  const location = response.headers.get("location");
  if (location !== null) await fetch(location);
}

let signIns = 0;
async function signedIn<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const isAuth = CemError.isInstance(error) && error.code === "AUTH_REQUIRED";
      if (!isAuth || signIns >= MAX_SIGN_INS) throw error;
      signIns += 1;
      await connections.authorize("test", { openBrowser, signal });
    }
  }
}

async function invoke(tool: string, args: JsonObject = {}): Promise<JsonValue> {
  const invoker = createMcpInvoker(connections);
  return signedIn(async () => {
    const result = await invoker.invoke({ server: "test", tool, args }, { signal });
    if (result.ok) return result.value;
    if (result.error.code === "AUTH_REQUIRED") throw new CemError("AUTH_REQUIRED", result.error.message);
    process.stderr.write(`${tool}: ${result.error.code}: ${result.error.message}\n`);
    return null;
  });
}

/** The least that a schema asks for. */
function sample(schema: JsonSchema): JsonValue {
  if (schema.default !== undefined) return schema.default;
  if (schema.enum?.[0] !== undefined) return schema.enum[0];
  switch (schema.type) {
    case "object":
      return Object.fromEntries(
        (schema.required ?? []).map((name) => [name, sample(schema.properties?.[name] ?? {})]),
      );
    case "number":
    case "integer":
      return 1;
    case "boolean":
      return true;
    case "array":
      return [];
    default:
      return "text";
  }
}

try {
  const { tools } = await signedIn(() => connections.listTools("test", { signal }));
  const focal = tools.find(({ name }) => name.startsWith("json_schema_") && name !== "json_schema_echo");
  if (context.toolCalls === undefined) {
    const calls = tools.map(({ name, inputSchema }) => {
      const isEcho = name === "json_schema_echo" && focal !== undefined;
      return invoke(name, (isEcho ? { schema: focal.inputSchema } : sample(inputSchema)) as JsonObject);
    });
    await Promise.all(calls);
  } else {
    // Some of these break the tool's own schema on purpose, which the invoker would not let through.
    for (const call of context.toolCalls) {
      await connections.callTool("test", call.name, call.arguments as JsonObject, { signal });
    }
  }
  if (scenario.startsWith("http-")) {
    const { resources = [] } = ((await invoke(SERVER_REQUESTS.listResources)) ?? {}) as {
      resources?: { uri: string }[];
    };
    for (const { uri } of resources) await invoke(SERVER_REQUESTS.readResource, { uri });
    const { prompts = [] } = ((await invoke(SERVER_REQUESTS.listPrompts)) ?? {}) as {
      prompts?: { name: string }[];
    };
    for (const { name } of prompts) await invoke(SERVER_REQUESTS.getPrompt, { name });
  }
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
} finally {
  await connections.close();
}
