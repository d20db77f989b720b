import type { Node } from "@babel/types";
import { calledTool, toolId, type ToolDefinition, type Verdict } from "@cem/core";
import { literalValue, lookUp, type Constants, type Scope } from "@cem/program";
import type { ProgramParts, Report } from "./collect.ts";
import type { Values } from "./values.ts";

type PlannedCall = NonNullable<Verdict["needsApproval"]>[number];

/** Decides whether code may call a tool: `true`, or why not. */
type IsAllowed = (tool: ToolDefinition) => true | string;

const TOOL_ORIGIN =
  /^module:(?:\.\/|\/workspace\/|file:\/\/\/workspace\/)?(?<folder>servers|skills)\/(?<server>[^/]+)\/.*?\.(?:[mc]?[jt]s\.)(?<name>[\w$]+)$/;

/** Reports calls of tools that may not be called. */
export function checkToolCalls(
  { calls, references }: ProgramParts,
  values: Values,
  tools: readonly ToolDefinition[],
  isAllowed: IsAllowed,
  report: Report,
): void {
  const obstacleOf = createObstacles(tools, isAllowed);
  const refused = new Map(
    tools.filter((tool) => obstacleOf(tool) !== undefined).map((tool) => [toolId(tool), tool]),
  );
  if (refused.size === 0) return;
  const check = (node: Node, origin?: string): void => {
    const tool = toolAt(origin, refused);
    if (tool === undefined) return;
    const message = `${toolId(tool)} may not be called: ${obstacleOf(tool)}.`;
    report.add(node, { rule: "tool-not-allowed", severity: "error", message });
  };
  for (const { node, scope } of calls) if ("callee" in node) check(node, values.originOf(node.callee, scope));
  // A tool that is passed on is called elsewhere.
  for (const { node, scope, key } of references)
    if (key !== "callee" && key !== "object") check(node, values.originOf(node, scope));
}

/** The tool that a value comes from, if it is one of these. */
function toolAt(origin: string | undefined, tools: ReadonlyMap<string, ToolDefinition>) {
  const { server = "", name = "" } = TOOL_ORIGIN.exec(origin ?? "")?.groups ?? {};
  return tools.get(toolId({ server, name }));
}

/** The calls of tools that need approval, each once, in the order of the code. */
export function callsToApprove(
  { calls }: ProgramParts,
  values: Values,
  tools: readonly ToolDefinition[],
): PlannedCall[] {
  const asked = new Map(
    tools.filter(({ needsApproval }) => needsApproval).map((tool) => [toolId(tool), tool]),
  );
  if (asked.size === 0) return [];
  const planned = new Map<string, PlannedCall>();
  const inOrder = calls.toSorted((one, other) => (one.node.start ?? 0) - (other.node.start ?? 0));
  for (const { node, scope } of inOrder) {
    if (node.type !== "CallExpression") continue;
    const tool = toolAt(values.originOf(node.callee, scope), asked);
    if (tool === undefined) continue;
    const [first] = node.arguments;
    const args = first === undefined ? {} : literalValue(first, constantsIn(scope));
    const { server, tool: name } = calledTool(tool);
    const call = { server, tool: name, ...(args !== undefined && { args }) };
    planned.set(JSON.stringify(call), call);
  }
  return [...planned.values()];
}

/** The variables in scope that have a single assigned value. */
function constantsIn(scope: Scope): Constants {
  return {
    find(name) {
      const [value, other] = lookUp(scope, name)?.values ?? [];
      if (value === undefined || other !== undefined) return undefined;
      return { node: value.node, constants: constantsIn(value.scope) };
    },
  };
}

/**
 * Returns why a tool may not be called: because of itself, or of a tool that a skill uses inside the sandbox. Host tools
 * that a skill calls are checked at the call.
 */
function createObstacles(tools: readonly ToolDefinition[], isAllowed: IsAllowed) {
  const held = new Map<string, string>();
  for (const tool of tools) {
    const allowed = tool.kind === "local" ? isAllowed(tool) : true;
    if (allowed === true) continue;
    const reason = `it uses ${toolId(tool)}, and ${allowed}`;
    held.set(toolId(tool), reason).set(toolId({ server: tool.server, name: "*" }), reason);
  }
  return (tool: ToolDefinition): string | undefined => {
    const allowed = isAllowed(tool);
    if (allowed !== true) return allowed;
    const used = tool.uses?.find((id) => held.has(id));
    return used === undefined ? undefined : held.get(used);
  };
}
