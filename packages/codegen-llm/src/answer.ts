import { CemError } from "@cem/core";
import { CANNOT } from "./prompt.ts";

/** A program, or what keeps the model from writing one. */
export type Answer = { code: string } | { missing: string };

const CODE_BLOCK = /^[ \t]*(`{3,}|~{3,})[ \t]*[\w+-]*[^\n]*\n(?<code>[\s\S]*?)^[ \t]*\1[ \t]*$/gmu;
const THINKING = /<think>[\s\S]*?<\/think>/gu;
const LOOKS_LIKE_CODE = /^\s*(?:import|export|const|let|await|return|console|\/\/)\b/u;

/**
 * Takes the program out of an answer: its longest code block, or the whole where it is nothing but code.
 *
 * @throws CemError `LLM_ANSWER_UNUSABLE`.
 */
export function readAnswer(text: string, model: string): Answer {
  const said = text.replaceAll(THINKING, "").trim();
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
