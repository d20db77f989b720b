import type { Node } from "@babel/types";
import { toolId } from "@cem/core";
import type { ToolDefinition } from "@cem/core";
import type { ProgramParts } from "./collect.ts";
import { originsOf } from "./origins.ts";
import type { Report } from "./report.ts";

/** What a review says of the tools that code calls. */
export interface ToolRules {
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
  tools: readonly ToolDefinition[],
  { isAllowed, destructive }: ToolRules,
  report: Report,
): void {
  const watched = new Map<string, ToolDefinition>();
  for (const tool of tools) {
    const isDestructive = destructive !== "off" && isDestructiveTool(tool);
    if (isDestructive || (isAllowed !== undefined && isAllowed(tool) !== true))
      watched.set(toolId(tool), tool);
  }
  if (watched.size === 0) return;
  const check = (node: Node, origins: readonly string[]): void => {
    for (const origin of origins) {
      const { server = "", name = "" } = TOOL_ORIGIN.exec(origin)?.groups ?? {};
      const tool = watched.get(toolId({ server, name }));
      if (tool === undefined) continue;
      const reason = isAllowed?.(tool) ?? true;
      if (reason !== true) {
        const message = `${toolId(tool)} may not be called: ${reason}.`;
        report.add(node, { rule: "tool-not-allowed", severity: "error", message });
      } else if (destructive !== "off") {
        const message = `${toolId(tool)} may delete or overwrite, as its server says.`;
        report.add(node, { rule: "destructive-call", severity: destructive, message });
      }
    }
  };
  for (const { node, scope } of calls) if ("callee" in node) check(node, originsOf(node.callee, scope));
  // A tool that is handed on is called elsewhere.
  for (const { node, scope, key } of references)
    if (key !== "callee" && key !== "object") check(node, originsOf(node, scope));
}

/** Whether a tool's annotations call it destructive. */
function isDestructiveTool({ annotations }: Pick<ToolDefinition, "annotations">): boolean {
  return annotations?.destructiveHint === true && annotations.readOnlyHint !== true;
}
