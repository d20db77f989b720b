import type { JsonValue, RunLimits, TaskResult } from "@cem/core";

/** Facts of the host that programs can know: the places of the canaries, and the listeners. */
export interface Target {
  /** A folder beside the workspace, with `secret.txt` and `secret.json`. */
  outside: string;
  /** A folder whose path begins as that of the workspace does. */
  sibling: string;
  /** A home with the files of people who work on the command line. */
  home: string;
  /** The log, the audit log and the recorded results of others. */
  records: string;
  /** The workspace as the host knows it. */
  workspace: string;
  /** A port of this host that counts what connects. */
  port: number;
  /** A socket of this host that counts what connects. */
  socket: string;
  /** The name of a variable of the host whose value is secret. */
  variable: string;
  /** The value of that variable. */
  secret: string;
  pid: number;
}

/** The outcome of an attack, in addition to the checks of every attack. */
export interface Evidence {
  results: TaskResult[];
  /** Arguments of tools that could send them on. */
  sent: JsonValue[];
  /** How long the longest run took, in milliseconds. */
  longestMs: number;
  /** Whether the signal of a tool that never answers was aborted. */
  cancelled: boolean;
}

/** One or several programs, run one after another in a session. */
export interface Attack {
  title: string;
  programs: (target: Target) => string | string[];
  /** `guards`: with every default guard. Otherwise the sandbox and the bridge stand alone, as where a review misses it. */
  with?: "guards" | undefined;
  limits?: Partial<RunLimits> | undefined;
  /** For programs that have to succeed: the value of the last. */
  value?: JsonValue | undefined;
  /** Throws where the evidence shows more than what is checked of every attack. */
  check?: ((evidence: Evidence) => void) | undefined;
}

/** Collects what any of the ways gives; a way that fails gives nothing. */
export const COLLECT = `const got: any[] = [];
const attempt = async (way: () => unknown) => { try { got.push(await way()); } catch (error) { got.push(String(error).slice(0, 40)); } };
const texts = () => JSON.stringify(got.map((one) => (one instanceof Uint8Array ? new TextDecoder().decode(one) : String(one))));
`;

/** Reads each file by every way the runtime has. */
export function readingAll(files: readonly string[]): string {
  return `import fs from "node:fs"; import fsp from "node:fs/promises";
${COLLECT}for (const file of ${JSON.stringify(files)}) {
  await attempt(() => Deno.readTextFileSync(file)); await attempt(() => Deno.readTextFile(file)); await attempt(() => Deno.readFileSync(file));
  await attempt(() => fs.readFileSync(file, "utf8")); await attempt(() => fsp.readFile(file, "utf8"));
  await attempt(async () => { const open = await Deno.open(file); try { return await new Response(open.readable).text(); } catch (error) { open.close(); throw error; } });
  await attempt(async () => { const one = fs.openSync(file, "r"); const bytes = new Uint8Array(4096); fs.readSync(one, bytes); return bytes; });
  await attempt(() => Deno.copyFileSync(file, "/workspace/copied")); await attempt(() => Deno.readTextFileSync("/workspace/copied"));
  await attempt(() => fetch("file://" + file).then((answer) => answer.text()));
}
return texts();`;
}

/** Value and output of the last program. */
export function told({ results }: Evidence): string {
  const { value, output } = results.at(-1) ?? {};
  return JSON.stringify([value, output]);
}
