import type { Node } from "@babel/types";
import { toolId } from "@cem/core";
import type { ToolDefinition } from "@cem/core";
import type { ProgramParts, Report } from "./collect.ts";
import type { Values } from "./values.ts";

/** Rules about the tools that code calls. */
interface ToolRules {
  /** Decides whether code may call a tool: `true`, or why not. */
  isAllowed?: ((tool: ToolDefinition) => true | string) | undefined;
  /** The severity of a call that its tool's annotations call destructive; `off` for none. */
  destructive: "error" | "warning" | "off";
}

const TOOL_ORIGIN =
  /^module:(?:\.\/|\/workspace\/|file:\/\/\/workspace\/)?(?<folder>servers|skills)\/(?<server>[^/]+)\/.*?\.(?:[mc]?[jt]s\.)(?<name>[\w$]+)$/;

/** Reports calls of tools that may not be called, and of those that delete or overwrite. */
export function checkToolCalls(
  { calls, references }: ProgramParts,
  values: Values,
  tools: readonly ToolDefinition[],
  { isAllowed, destructive }: ToolRules,
  report: Report,
): void {
  const watched = new Map<string, ToolDefinition>();
  const obstacleOf = createObstacles(tools, isAllowed);
  for (const tool of tools) {
    const isDestructive = destructive !== "off" && isDestructiveTool(tool);
    if (isDestructive || obstacleOf(tool) !== undefined) watched.set(toolId(tool), tool);
  }
  if (watched.size === 0) return;
  const check = (node: Node, origin = ""): void => {
    const { server = "", name = "" } = TOOL_ORIGIN.exec(origin)?.groups ?? {};
    const tool = watched.get(toolId({ server, name }));
    if (tool === undefined) return;
    const obstacle = obstacleOf(tool);
    if (obstacle !== undefined) {
      const message = `${toolId(tool)} may not be called: ${obstacle}.`;
      report.add(node, { rule: "tool-not-allowed", severity: "error", message });
    } else if (destructive !== "off") {
      const message = `${toolId(tool)} may delete or overwrite, as its server says.`;
      report.add(node, { rule: "destructive-call", severity: destructive, message });
    }
  };
  for (const { node, scope } of calls) if ("callee" in node) check(node, values.originOf(node.callee, scope));
  // A tool that is handed on is called elsewhere.
  for (const { node, scope, key } of references)
    if (key !== "callee" && key !== "object") check(node, values.originOf(node, scope));
}

/**
 * Says why a tool may not be called: itself, or a tool that a skill uses and that runs in the sandbox as the skill does. What
 * a skill calls on the host is checked when it is called.
 */
function createObstacles(
  tools: readonly ToolDefinition[],
  isAllowed: ToolRules["isAllowed"],
): (tool: ToolDefinition) => string | undefined {
  if (isAllowed === undefined) return () => undefined;
  const held = new Map<string, string>();
  for (const tool of tools) {
    const allowed = tool.kind === "local" ? isAllowed(tool) : true;
    if (allowed === true) continue;
    const reason = `it uses ${toolId(tool)}, and ${allowed}`;
    held.set(toolId(tool), reason).set(toolId({ server: tool.server, name: "*" }), reason);
  }
  return (tool) => {
    const allowed = isAllowed(tool);
    if (allowed !== true) return allowed;
    const used = tool.uses?.find((id) => held.has(id));
    return used === undefined ? undefined : held.get(used);
  };
}

/** Whether a tool's annotations call it destructive. */
function isDestructiveTool({ annotations }: Pick<ToolDefinition, "annotations">): boolean {
  return annotations?.destructiveHint === true && annotations.readOnlyHint !== true;
}
