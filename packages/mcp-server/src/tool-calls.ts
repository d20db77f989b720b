import { isObject, MS_PER_SECOND } from "@cem/core";
import { clientTrace, failSpan, measure, traced, type ClientTrace } from "@cem/core/telemetry";
import { nearest } from "@cem/core/text";
import type { ServerContext, StandardSchemaV1, StandardSchemaWithJSON } from "@modelcontextprotocol/server";
import { MAX_LISTED_PROBLEMS, MAX_PROBLEM_CHARACTERS } from "./limits.ts";
import type { ToolAnswer } from "./tools/server-tool.ts";

/** Maximum number of values listed. */
const MAX_NAMED_VALUES = 20;

type Properties = Readonly<Record<string, unknown>>;
type Issue = StandardSchemaV1.Issue;

/** Wraps a schema with helpful errors, of which the first are listed. An object without named properties accepts any. */
export function strictInput(schema: StandardSchemaWithJSON): StandardSchemaWithJSON {
  const standard = schema["~standard"];
  let properties: Properties | undefined | null = null;
  const validate: typeof standard.validate = (input, options) => {
    if (properties === null) properties = closedProperties(standard);
    const problems = properties === undefined ? [] : problemsOf(input, properties);
    if (problems.length > 0) return { issues: shortened(problems.map((message) => ({ message }))) };
    const checked = standard.validate(input, options);
    return checked instanceof Promise ? checked.then(withFewIssues) : withFewIssues(checked);
  };
  return { "~standard": { ...standard, validate } };
}

/** The properties of a schema that names all of them, else `undefined`. */
function closedProperties({ jsonSchema }: StandardSchemaWithJSON["~standard"]): Properties | undefined {
  const schema = jsonSchema.input({ target: "draft-2020-12" });
  const { properties, additionalProperties = false, patternProperties, ...others } = schema;
  const isComposed = ["allOf", "anyOf", "oneOf", "$ref", "if"].some((keyword) => keyword in others);
  const isClosed = additionalProperties === false && patternProperties === undefined && !isComposed;
  return isClosed && isObject(properties) ? properties : undefined;
}

function withFewIssues<Result extends StandardSchemaV1.Result<unknown>>(checked: Result): Result {
  const { issues } = checked;
  return issues === undefined ? checked : { ...checked, issues: shortened(issues) };
}

function shortened(issues: readonly Issue[]): Issue[] {
  const listed = issues.slice(0, MAX_LISTED_PROBLEMS).map((issue) => {
    const begin = issue.message.slice(0, MAX_PROBLEM_CHARACTERS);
    return begin === issue.message ? issue : { ...issue, message: `${begin}…` };
  });
  const left = issues.length - listed.length;
  return left === 0 ? listed : [...listed, { message: `There are ${left} more problems.` }];
}

/** Finds the problems. Only those that are listed are described, since suggestions compare a name with all others. */
function problemsOf(input: unknown, properties: Properties): string[] {
  if (!isObject(input)) return [];
  const names = Object.keys(properties);
  const problems: string[] = [];
  for (const [name, value] of Object.entries(input)) {
    const isListed = problems.length < MAX_LISTED_PROBLEMS;
    if (!Object.hasOwn(properties, name)) {
      problems.push(isListed ? unknownArgument(name, names) : "");
      continue;
    }
    const { enum: allowed } = isObject(properties[name]) ? properties[name] : {};
    if (Array.isArray(allowed) && !allowed.includes(value)) problems.push(wrongValue(name, value, allowed));
  }
  return problems;
}

function unknownArgument(name: string, names: readonly string[]): string {
  const all = names.length === 0 ? "It takes no arguments." : `It takes: ${names.join(", ")}.`;
  return `There is no argument ${JSON.stringify(name)}.${guess(name, names)} ${all}`;
}

function wrongValue(name: string, value: unknown, allowed: readonly unknown[]): string {
  const named = allowed.slice(0, MAX_NAMED_VALUES).map((one) => JSON.stringify(one));
  const more = allowed.length > named.length ? ` or one of ${allowed.length - named.length} more` : "";
  const texts = allowed.filter((one) => typeof one === "string");
  const hint = typeof value === "string" ? guess(value, texts) : "";
  return `${name} takes ${named.join(", ")}${more}, not ${JSON.stringify(value).slice(0, 100)}.${hint}`;
}

function guess(given: string, known: readonly string[]): string {
  const [near] = nearest(given, known);
  return near === undefined ? "" : ` Did you mean ${JSON.stringify(near)}?`;
}

/** Handles a tool call within a span, in the client's trace or in a new one linked to it. */
export function traceRequest(
  tool: string,
  { http, mcpReq, sessionId }: ServerContext,
  mode: ClientTrace,
  answer: () => Promise<ToolAnswer>,
): Promise<ToolAnswer> {
  const measured = {
    "mcp.method.name": "tools/call",
    "gen_ai.tool.name": tool,
    "network.transport": http === undefined ? "pipe" : "tcp",
  };
  const attributes = {
    ...measured,
    "gen_ai.operation.name": "execute_tool",
    "jsonrpc.request.id": String(mcpReq.id),
    ...(sessionId === undefined ? {} : { "mcp.session.id": sessionId }),
  };
  const { _meta: meta } = mcpReq;
  const { parent, links } = clientTrace({ meta, headers: http?.req?.headers }, mode);
  const started = performance.now();
  return traced(`tools/call ${tool}`, { kind: "server", attributes, parent, links }, async (span) => {
    const answered = await answer();
    if (answered["isError"] === true) failSpan(span, "tool_error");
    return answered;
  }).finally(() => measure("serverOperation", (performance.now() - started) / MS_PER_SECOND, measured));
}
