import { CemError } from "@cem/core";
import type { ToolDefinition } from "@cem/core";
import { CALL, CANNOT } from "./prompt.ts";

/** The program in a model's answer, or what the model says is missing. */
export type Answer = { code: string } | { missing: string };

const CALL_LINE = new RegExp(`^\\W*${CALL} +(?<name>[\\w$.]+)\\(?\\s*(?<args>\\{[\\s\\S]*\\})\\W*$`, "u");

const CODE_BLOCK = /^[ \t]*(`{3,}|~{3,})[ \t]*[\w+-]*[^\n]*\n(?<code>[\s\S]*?)^[ \t]*\1[ \t]*$/gmu;
const THINKING = /<think>[\s\S]*?<\/think>/gu;
const LOOKS_LIKE_CODE = /^\s*(?:import|export|const|let|await|return|console|\/\/)\b/u;

/**
 * Extracts the program from a model's answer: a single call, the longest code block, or the whole text if it is code.
 *
 * @param text - The answer.
 * @param tools - The tools that the model was offered.
 * @param model - The name of the model, for errors.
 * @throws CemError `LLM_ANSWER_UNUSABLE` when the answer is neither a program nor a refusal, or calls another tool.
 */
export function readAnswer(text: string, tools: readonly ToolDefinition[], model: string): Answer {
  const said = text.replaceAll(THINKING, "").trim();
  const { name, args } = CALL_LINE.exec(said)?.groups ?? {};
  if (name !== undefined && args !== undefined) return { code: callProgram(name, args, tools, model) };
  const blocks = [...said.matchAll(CODE_BLOCK)].map(({ groups }) => groups?.["code"]?.trim() ?? "");
  const code = blocks.toSorted((a, b) => b.length - a.length)[0] ?? "";
  if (code !== "" && !code.startsWith(CANNOT)) return { code: `${code}\n` };
  const refusal = said.indexOf(CANNOT);
  if (refusal !== -1) {
    const [missing = ""] = said
      .slice(refusal + CANNOT.length)
      .trim()
      .split("\n");
    return { missing: missing.replaceAll("`", "").trim() };
  }
  if (LOOKS_LIKE_CODE.test(said)) return { code: `${said}\n` };
  throw new CemError("LLM_ANSWER_UNUSABLE", `The answer of ${model} holds no program.`, {
    details: { model },
  });
}

/** Turns a single call into a program. The arguments are parsed and printed as JSON, so they can't become code. */
function callProgram(name: string, text: string, tools: readonly ToolDefinition[], model: string): string {
  const tool = tools.find((one) => one.name === name || `${one.server}.${one.name}` === name);
  const args = parseObject(text);
  if (tool === undefined || args === undefined) {
    const what =
      tool === undefined ? `calls ${name}, which it was not offered` : "has arguments that are not JSON";
    throw new CemError("LLM_ANSWER_UNUSABLE", `The answer of ${model} ${what}.`, { details: { model } });
  }
  const given = tool.callStyle === "positional" ? positional(tool, args) : JSON.stringify(args);
  return `import { ${tool.name} } from ${JSON.stringify(tool.module)};\n\nexport default await ${tool.name}(${given});\n`;
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

/** The arguments of a positional call, in the order of the schema's properties. */
function positional({ inputSchema }: ToolDefinition, args: Record<string, unknown>): string {
  const names = Object.keys((inputSchema as { properties?: object | undefined }).properties ?? {});
  const last = names.findLastIndex((name) => name in args);
  return names
    .slice(0, last + 1)
    .map((name) => JSON.stringify(args[name]) ?? "undefined")
    .join(", ");
}
