import type { FailedTool } from "./failures.ts";
import type { ToolCall } from "./invocation.ts";
import type { ToolDefinition } from "./tools.ts";

/** Returns the names by which calls refer to a tool of a catalog. */
export function calledTool({
  server,
  name,
  originalServer = server,
  originalName = name,
}: Pick<ToolDefinition, "server" | "name" | "originalServer" | "originalName">): Omit<ToolCall, "args"> {
  const isSame = originalServer === server && originalName === name;
  const inCode = isSame ? undefined : { server, tool: name };
  return { server: originalServer, tool: originalName, inCode };
}

/**
 * Parses patterns of tools: `weather.get_forecast`, `weather.*`, `*.delete_*`, `*`, or a server's name alone for all of
 * its tools. Names may hold any characters; `*` stands for any number of them. A pattern matches a tool by either of
 * its names.
 */
export function matchTools(patterns: readonly string[]): (tool: Omit<ToolCall, "args">) => boolean {
  // Fast path: most patterns are like this, and a review checks thousands of tools.
  if (patterns.length === 0 || patterns.includes("*")) return () => patterns.length > 0;
  const expressions = patterns.map((pattern) => {
    const escaped = pattern.replaceAll(/[\\^$.+?()[\]{}|]/g, "\\$&").replaceAll("*", ".*");
    return new RegExp(`^${escaped}${pattern.includes(".") ? "" : String.raw`(?:\..*)?`}$`, "su");
  });
  const isMeant = ({ server, tool }: FailedTool): boolean => {
    const name = `${server}.${tool}`;
    return expressions.some((expression) => expression.test(name));
  };
  return (called) => isMeant(called) || (called.inCode !== undefined && isMeant(called.inCode));
}
