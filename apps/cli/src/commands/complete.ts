import type { Answer } from "../answer.ts";
import { buildProgram } from "../command-program.ts";
import { candidatesFor } from "../completion/candidates.ts";
import { configSourceOf } from "../config-source.ts";
import { EXIT_OK } from "../exit-codes.ts";
import type { InvocationOf } from "../invocation.ts";
import { safeText } from "../safe-text.ts";

/** A word of a name that a shell would read as more than that is not suggested. */
const PLAIN = /^[\w.:=/@+-]+$/u;

/** `cem complete`: what the script of `cem completion` asks for. Nothing is said of what goes wrong: it is asked while somebody types. */
export async function complete({ words, options }: InvocationOf<"complete">): Promise<Answer> {
  const program = buildProgram(() => {});
  const readCatalog = async () => {
    const { listCatalog } = await import("code-execution-mcp/admin");
    return listCatalog({ ...configSourceOf(options), onLog: () => {}, triesServers: false });
  };
  const found = await candidatesFor(words, program, readCatalog).catch(() => []);
  const lines = found
    .filter(({ word }) => PLAIN.test(word))
    .map(({ word, about }) => `${word}\t${safeText(about).replaceAll(/[\n\t]/gu, " ")}`);
  return {
    exitCode: EXIT_OK,
    data: { status: "success", candidates: found },
    report: () => lines,
    brief: () => lines.join("\n"),
  };
}
