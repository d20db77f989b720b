import { CemError, type ToolDefinition } from "@cem/core";
import { findCallLines, programOfCalls, type ReadCall } from "./call-lines.ts";
import { CALL, CANNOT } from "./prompt.ts";

/** The program in a model's answer, or what the model says is missing. */
export type Answer = { code: string; calls?: ReadCall[] | undefined } | { missing: string };

/** A line that opens a code block, or closes one if nothing follows. */
const FENCE = /^[ \t]*(?<fence>`{3,}(?!`)|~{3,}(?!~))(?<rest>.*)$/su;
const PROGRAM_LANGUAGE = /^(?:ts|typescript|js|javascript|tsx|mts|mjs)$/iu;
const THINKING = /<think>(?:(?!<think>)[\s\S])*?<\/think>/gu;
/** The end of thinking that the prompt template itself opened, as in some chat templates. */
const THOUGHT_END = /^[ \t]*<\/think>[ \t]*$/mu;
const CODE_LINE = /^[ \t]*(?:import|export|const|let|await|return|console|async function|function|\/\/)\b/mu;
const CALL_START = new RegExp(`^(?:\`{3,}\\w*\\s)?[^\\w/]*${CALL}\\b`, "u");
/** Number of characters needed to distinguish a call from a program. */
const TELLING_CHARACTERS = 16;

export function formOf(text: string): "call" | "program" | undefined {
  if (text.trimStart().startsWith("<think>") && !text.includes("</think>")) return undefined;
  const start = text.replaceAll(THINKING, "").trimStart();
  if (CALL_START.test(start)) return "call";
  return start.length < TELLING_CHARACTERS || start.startsWith("<think>") ? undefined : "program";
}

/** Extracts the program: the longest block, calls, or the text from where code begins. @throws CemError `LLM_ANSWER_UNUSABLE` */
export function readAnswer(text: string, tools: readonly ToolDefinition[], model: string): Answer {
  const said = withoutThoughts(text).trim();
  const code = longestProgram(said);
  const lines = code === "" || CALL_START.test(code) ? findCallLines(said) : [];
  if (lines.length > 0) return programOfCalls(lines, tools, model);
  if (code !== "" && !code.startsWith(CANNOT)) return { code: `${code}\n` };
  const refusal = said.indexOf(CANNOT);
  if (refusal !== -1) {
    const reason = said.slice(refusal + CANNOT.length).trim();
    const [missing = ""] = reason.split("\n");
    return { missing: missing.replaceAll("`", "").trim() };
  }
  const start = said.search(CODE_LINE);
  if (start !== -1) return { code: `${said.slice(start).trimStart()}\n` };
  const message = `The answer of ${model} holds no program.`;
  throw new CemError("LLM_ANSWER_UNUSABLE", message, { details: { model } });
}

function withoutThoughts(text: string): string {
  const rest = text.replaceAll(THINKING, "");
  const end = THOUGHT_END.exec(rest);
  return end === null ? rest : rest.slice(end.index + end[0].length);
}

/** The longest code block. Blocks in another language, such as an example of the result, only count if there is no other. */
function longestProgram(said: string): string {
  const blocks = codeBlocks(said);
  const named = blocks.filter(({ isProgram }) => isProgram);
  const [longest] = (named.length > 0 ? named : blocks).toSorted((a, b) => b.code.length - a.code.length);
  return longest?.code ?? "";
}

/** All fenced code blocks, and whether each names a programming language. An unclosed one extends to the end. */
function codeBlocks(text: string) {
  const lines = text.split(/\r?\n/u);
  const blocks: { isProgram: boolean; code: string }[] = [];
  let open: { fence: string; language: string; from: number } | undefined;
  const close = (end: number): void => {
    if (open === undefined) return;
    const code = lines.slice(open.from, end).join("\n").trim();
    blocks.push({ isProgram: PROGRAM_LANGUAGE.test(open.language), code });
    open = undefined;
  };
  for (const [at, line] of lines.entries()) {
    const { fence, rest = "" } = FENCE.exec(line)?.groups ?? {};
    if (fence === undefined) continue;
    if (open === undefined)
      open = { fence, language: rest.trim().split(/[^\w+-]/u, 1)[0] ?? "", from: at + 1 };
    else if (open.fence === fence && rest.trim() === "") close(at);
  }
  close(lines.length);
  return blocks;
}
