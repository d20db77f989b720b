import { CemError, toolId } from "@cem/core";
import type { ToolDefinition } from "@cem/core";
import { CALL, CANNOT } from "./prompt.ts";

/** The program in a model's answer, or what the model says is missing. */
export type Answer = { code: string } | { missing: string };

/** Where a call begins: at the start of a line. */
const CALL_START = new RegExp(`^\\W*${CALL} +(?=[\\w$.-]+\\(?\\s*\\{)`, "mu");
const CALL_TEXT = /^(?<name>[\w$.-]+)\(?\s*(?<args>\{[\s\S]*\})[^\w}]*$/u;

/** A line that begins a block of code, or ends one where nothing follows. */
const FENCE = /^[ \t]*(?<fence>`{3,}(?!`)|~{3,}(?!~))(?<rest>.*)$/su;
const THINKING = /<think>(?:(?!<think>)[\s\S])*?<\/think>/gu;
const LOOKS_LIKE_CODE = /^\s*(?:import|export|const|let|await|return|console|\/\/)\b/u;

/**
 * Extracts the program from a model's answer: calls, the longest code block, or the whole text if it is code.
 *
 * @param text - The answer.
 * @param tools - The tools that the model was offered.
 * @param model - The name of the model, for errors.
 * @throws CemError `LLM_ANSWER_UNUSABLE` when the answer is neither a program nor a refusal, or calls another tool.
 */
export function readAnswer(text: string, tools: readonly ToolDefinition[], model: string): Answer {
  const said = text.replaceAll(THINKING, "").trim();
  const calls = readCalls(said);
  if (calls !== undefined) return { code: callsProgram(calls, tools, model) };
  const blocks = codeBlocks(said);
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

/** What stands between the fences of each block of code. A fence that nothing closes begins none. */
function codeBlocks(text: string): string[] {
  const lines = text.split(/\r?\n/u);
  const fences = lines.map((line) => FENCE.exec(line)?.groups);
  const closings = new Map<string, number>();
  for (const [at, groups] of fences.entries()) {
    if (groups?.["rest"]?.trim() === "") closings.set(groups["fence"] ?? "", at);
  }
  const blocks: string[] = [];
  let open: { fence: string; from: number } | undefined;
  for (const [at, groups] of fences.entries()) {
    const { fence = "", rest = "" } = groups ?? {};
    if (fence === "") continue;
    if (open === undefined && (closings.get(fence) ?? 0) > at) {
      open = { fence, from: at + 1 };
    } else if (open?.fence === fence && rest.trim() === "") {
      blocks.push(lines.slice(open.from, at).join("\n").trim());
      open = undefined;
    }
  }
  return blocks;
}

interface CallLine {
  name: string;
  args: string;
}

/** The calls that an answer consists of; `undefined` where it is anything else. */
function readCalls(said: string): CallLine[] | undefined {
  const [before = "", ...texts] = said.split(CALL_START);
  if (texts.length === 0 || /\w/u.test(before.replaceAll(/^\W*\w*$/gmu, ""))) return undefined;
  const calls = texts.map((text) => CALL_TEXT.exec(text.trim())?.groups as CallLine | undefined);
  return calls.every((call) => call !== undefined) ? calls : undefined;
}

/** Turns calls into a program that makes one after the other. */
function callsProgram(calls: readonly CallLine[], tools: readonly ToolDefinition[], model: string): string {
  const made = calls.map(({ name, args }) => readCall(name, args, tools, model));
  const used = [...new Set(made.map(({ tool }) => tool))];
  const aliases = new Map(used.map((tool) => [tool, localName(tool, used)]));
  const imports = used.map((tool) => {
    const alias = aliases.get(tool) ?? tool.name;
    const imported = alias === tool.name ? tool.name : `${tool.name} as ${alias}`;
    return `import { ${imported} } from ${JSON.stringify(tool.module)};`;
  });
  const expressions = made.map(({ tool, given }) => `await ${aliases.get(tool) ?? tool.name}(${given})`);
  const [only = ""] = expressions;
  const value = expressions.length === 1 ? only : `[${expressions.join(", ")}]`;
  return `${imports.join("\n")}\n\nexport default ${value};\n`;
}

/** Two tools of one name from different servers: each but the first gets a number. */
function localName(tool: ToolDefinition, used: readonly ToolDefinition[]): string {
  const before = used.slice(0, used.indexOf(tool)).filter(({ name }) => name === tool.name).length;
  return before === 0 ? tool.name : `${tool.name}${before + 1}`;
}

/** A call with its arguments as code. They are parsed and printed as JSON, so they can't become code. */
function readCall(
  name: string,
  text: string,
  tools: readonly ToolDefinition[],
  model: string,
): { tool: ToolDefinition; given: string } {
  const args = parseObject(text);
  const found = tools.filter((one) => one.name === name || toolId(one) === name);
  const fitting = args === undefined || found.length < 2 ? found : found.filter((one) => takes(one, args));
  const [tool] = fitting;
  if (tool === undefined || args === undefined || fitting.length > 1) {
    const what =
      found.length === 0
        ? `calls ${name}, which it was not offered`
        : args === undefined
          ? "has arguments that are not JSON"
          : `calls ${name}, which may be ${found.map(toolId).join(" or ")}`;
    throw new CemError("LLM_ANSWER_UNUSABLE", `The answer of ${model} ${what}.`, { details: { model } });
  }
  return { tool, given: tool.callStyle === "positional" ? positional(tool, args) : JSON.stringify(args) };
}

/** Whether a tool has all parameters that are given, and is given all that it requires. */
function takes({ inputSchema }: ToolDefinition, args: Record<string, unknown>): boolean {
  const { properties = {}, required = [] } = inputSchema as { properties?: object; required?: string[] };
  const given = Object.keys(args);
  return given.every((key) => Object.hasOwn(properties, key)) && required.every((key) => given.includes(key));
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
