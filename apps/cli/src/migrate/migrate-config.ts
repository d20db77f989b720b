import { findProblems } from "@cem/config/edit";
import { isMap, parseDocument, type Document } from "yaml";

interface Edit {
  path: readonly string[];
  /** The new value; `undefined` removes the key. */
  to: string | undefined;
  /** The values that it applies to, in lower case. Default: all but `to`. */
  from?: readonly string[] | undefined;
  why: string;
}

const EDITS: readonly Edit[] = [
  {
    path: ["execution", "sandbox_type"],
    from: ["microsandbox", "opensandbox", "monty"],
    to: "auto",
    why: "the strongest sandbox that works on this host",
  },
  {
    path: ["execution", "sandbox_image"],
    to: "auto",
    why: "guests run TypeScript, not an image with Python",
  },
  { path: ["execution", "opensandbox_domain"], to: undefined, why: "there is no OpenSandbox here" },
  { path: ["execution", "opensandbox_image"], to: undefined, why: "there is no OpenSandbox here" },
  {
    path: ["execution", "state", "state_format"],
    from: ["pickle"],
    to: "binary",
    why: "pickle is Python's own",
  },
];

/**
 * Changes a config.yaml of the Python original so that it loads here. Comments and all other settings are kept.
 *
 * @returns the changes with their reasons, and the problems that remain to be fixed by hand: a sentence each.
 */
export async function migrateConfig(yaml: string, file: string) {
  const document = parseDocument(yaml);
  if (document.errors.length > 0 || !isMap(document.contents)) {
    const problems = await findProblems(yaml, file);
    return { text: yaml, changes: [], problems: problems.map(toText) };
  }
  const changes = EDITS.filter((edit) => apply(document, edit)).map(
    ({ path, to, why }) => `${path.join(".")}  ${to === undefined ? "is left out" : `is ${to}`}: ${why}`,
  );
  for (const { path } of (await findProblems(print(document), file)).filter(
    ({ unknown }) => unknown === true,
  )) {
    if (document.deleteIn(keysOf(path)))
      changes.push(`${path}  is left out: it had no effect there and is not a setting here`);
  }
  const text = changes.length === 0 ? yaml : print(document);
  return { text, changes, problems: (await findProblems(text, file)).map(toText) };
}

function apply(document: Document, { path, from, to }: Edit): boolean {
  if (!document.hasIn(path)) return false;
  const value = String(document.getIn(path)).toLowerCase();
  if (from === undefined ? value === to : !from.includes(value)) return false;
  if (to === undefined) document.deleteIn(path);
  else document.setIn(path, to);
  return true;
}

/** Splits `mcp_servers[0].url` into the keys of a document. */
function keysOf(path: string): (string | number)[] {
  return path
    .split(/[.[\]]+/u)
    .filter((key) => key !== "")
    .map((key) => (/^\d+$/u.test(key) ? Number(key) : key));
}

function print(document: Document): string {
  return document.toString({ lineWidth: 0 });
}

function toText({ origin, path, message }: Awaited<ReturnType<typeof findProblems>>[number]): string {
  return [origin, path, message].filter((part) => part !== "").join("  ");
}
