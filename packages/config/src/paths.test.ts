import * as z from "zod/mini";
import { expect, it } from "vitest";
import { toSnakeCase } from "./schema/shape.ts";
import { configSchema } from "./schema/schema.ts";
import { itemOf, optionsOf, traitsOf, unwrap, valueOf } from "./schema/shape.ts";

/**
 * The settings that take any text and are no paths that start at the project. A new one is either marked as a path in the schema
 * or listed here. Commands and arguments of servers count from the folder that they start in, `volume_root` and `guest` are
 * absolute, `state_file` is a name.
 */
const NO_PATHS = [
  "customers.claim",
  "customers.header",
  "execution.kubernetes.namespace",
  "execution.kubernetes.template",
  "execution.kubernetes.volume_claim",
  "execution.kubernetes.volume_root",
  "execution.mount_directories[]",
  "execution.mount_directories[].guest",
  "execution.msb_server_url",
  "execution.state.state_file",
  "guardrails.allowed_networks[]",
  "guardrails.allowed_tools[]",
  "guardrails.approvals[]",
  "guardrails.blocked_patterns[]",
  "guardrails.blocked_tools[]",
  "guardrails.egress[].hosts[]",
  "guardrails.egress[].tools[]",
  "guardrails.rate_limits[].tools[]",
  "guardrails.read_tools[]",
  "llm.azure_api_version",
  "llm.azure_deployment_name",
  "llm.azure_embedder_name",
  "llm.azure_embedder_version",
  "llm.azure_endpoint",
  "llm.base_url",
  "llm.embedding_model",
  "llm.model",
  "mcp_servers[].args[]",
  "mcp_servers[].auth.client_id",
  "mcp_servers[].auth.client_metadata_url",
  "mcp_servers[].auth.issuer",
  "mcp_servers[].auth.scopes[]",
  "mcp_servers[].command",
  "mcp_servers[].name",
  "mcp_servers[].url",
  "plugins[]",
  "privacy.custom[].pattern",
  "privacy.custom[].values[]",
  "privacy.rules[].from",
  "privacy.rules[].to",
  "queue.prefix",
  "server.allowed_hosts[]",
  "server.allowed_origins[]",
  "server.auth_audience",
  "server.auth_scopes[]",
  "server.host",
  "tool_mappings[].function_name",
  "tool_mappings[].python_function_name",
  "tool_mappings[].server_name",
  "tool_mappings[].tool_name",
  "workflows[].description",
  "workflows[].name",
  "workflows[].steps[].description",
  "workflows[].steps[].name",
  "workflows[].steps[].needs[]",
  "workflows[].steps[].on_error",
  "workflows[].steps[].type",
  "workflows[].version",
];

/** Every place of the schema that takes free text, and whether it is marked as a path. */
function textsIn(schema: z.ZodMiniType, path: string): [path: string, isMarked: boolean][] {
  const { path: marked, allowed } = traitsOf(schema);
  const inner = unwrap(schema);
  if (inner instanceof z.ZodMiniString) {
    const isFormed = allowed !== undefined && marked === undefined;
    const isPattern = inner.def.checks?.some(({ _zod }) => _zod.def.check === "string_format") === true;
    return isFormed || isPattern ? [] : [[path, marked !== undefined]];
  }
  if (inner instanceof z.ZodMiniObject)
    return Object.entries(inner.shape).flatMap(([key, child]) =>
      textsIn(child as z.ZodMiniType, `${path}.${toSnakeCase(key)}`),
    );
  if (inner instanceof z.ZodMiniArray) return textsIn(itemOf(inner), `${path}[]`);
  if (inner instanceof z.ZodMiniRecord) return textsIn(valueOf(inner), `${path}{}`);
  if (inner instanceof z.ZodMiniUnion) return optionsOf(inner).flatMap((option) => textsIn(option, path));
  return [];
}

it("marks every setting that is a path", () => {
  const texts = textsIn(configSchema, "").map(([path, isMarked]) => [path.slice(1), isMarked] as const);
  const unmarked = texts.flatMap(([path, isMarked]) =>
    isMarked ? [] : path.replace(/^.*\.guardrails\./u, "guardrails.").replace("{}", "[]"),
  );
  expect([...new Set(unmarked)].toSorted()).toEqual(NO_PATHS.toSorted());
});
