import { readFileSync } from "node:fs";
import path from "node:path";
import { corpusTools } from "./tools.ts";

/** A program as a model writes it. */
export interface CorpusProgram {
  title: string;
  /** Its first line imports its tools. */
  code: string;
  /** The value that a run gives, where it is known. */
  value?: unknown;
  /** The line of its mistake, marked with `// <-`. */
  line?: number | undefined;
}

const MARK = /\s*\/\/ <-$/m;
const VALUE = /^\/\/= (.*)\n/;

/** Reads a file of programs, each under a line with `//#` and its title, and `//=` and its value as JSON where it is run. */
export function readCorpus(name: "right" | "wrong"): CorpusProgram[] {
  const text = readFileSync(path.join(import.meta.dirname, `${name}.txt`), "utf8");
  return text
    .split(/^\/\/# /m)
    .slice(1)
    .map((part) => {
      const end = part.indexOf("\n");
      const body = part.slice(end + 1);
      const value = VALUE.exec(body)?.[1];
      const written = body.replace(VALUE, "");
      const at = written.search(MARK);
      const line = at === -1 ? undefined : written.slice(0, at).split("\n").length + 1;
      const code = `${importsOf(written)}\n${written.replace(MARK, "")}`;
      return {
        title: part.slice(0, end),
        code,
        line,
        ...(value !== undefined && { value: JSON.parse(value) }),
      };
    });
}

/** The imports of the tools that a program calls, in one line. */
function importsOf(code: string): string {
  return Object.entries(corpusTools)
    .flatMap(([server, tools]) => {
      const used = Object.keys(tools).filter((tool) => new RegExp(`\\b${tool}\\(|\\(${tool}\\)`).test(code));
      return used.length === 0 ? [] : [`import { ${used.join(", ")} } from "./servers/${server}/index.ts";`];
    })
    .join(" ");
}
