import { exampleArguments, type ToolDefinition } from "@cem/core";
import { splitWords } from "@cem/text";

/** An order for a tool with a value for each of its required parameters: `Call get_weather with location "Oslo"`. */
export function exampleOrder(tool: ToolDefinition): string {
  const values = Object.entries(exampleArguments(tool)).map(
    ([name, value]) => `${splitWords(name).join(" ")} ${JSON.stringify(value)}`,
  );
  return `Call ${tool.name}${values.length === 0 ? "" : ` with ${values.join(" and with ")}`}`;
}
