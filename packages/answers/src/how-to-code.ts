/** How a model writes code, as the description of a tool that runs it says. */
export const HOW_TO_CODE =
  'Run TypeScript (Deno): `import { tool } from "./servers/<server>/index.ts"`, `await` every call, end with `return value`.';

/** How code learns that a tool failed. */
export const FAILED_TOOLS = "A failed tool throws; a ToolError has server, tool, code, message, details.";
