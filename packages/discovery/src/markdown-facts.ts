import type { FrontMatter } from "./front-matter.ts";
import { failedModule, type ModuleFacts } from "./module-facts.ts";

const FRONT_MATTER = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/;
const MAX_FRONT_MATTER_CHARACTERS = 64 * 1024;

/**
 * Reads the description of a server or skill from its README.md or SKILL.md: the front matter's `description`, else the
 * first paragraph.
 */
export async function readMarkdown(text: string): Promise<ModuleFacts> {
  const match = FRONT_MATTER.exec(text);
  const facts = failedModule({ kind: "unread", message: "has front matter that is not valid YAML" });
  const matter = match ? await readMatter(match[1] ?? "") : {};
  if (!matter) return facts;
  const { failure: _failure, ...empty } = facts;
  return {
    ...empty,
    description: matter.description?.trim() ?? firstParagraph(text.slice(match?.[0].length ?? 0)),
  };
}

async function readMatter(text: string): Promise<FrontMatter | undefined> {
  if (text.length > MAX_FRONT_MATTER_CHARACTERS) return undefined;
  const { readFrontMatter } = await import("./front-matter.ts");
  return readFrontMatter(text);
}

/** The first paragraph; the title where there is none. */
function firstParagraph(text: string): string {
  const blocks = text.split(/\r?\n\s*\r?\n/).flatMap((block) => block.split(/\n(?=#)|\n(?<=^#.*\n)/m));
  const lines = blocks
    .map((block) => block.trim().replaceAll(/(?<!\s)\s*\n\s*/g, " "))
    .filter((block) => block !== "" && !/^(?:```|<|!?\[|---|===)/.test(block));
  const paragraph = lines.find((line) => !line.startsWith("#"));
  return paragraph ?? lines[0]?.replace(/^#+\s*/, "") ?? "";
}
