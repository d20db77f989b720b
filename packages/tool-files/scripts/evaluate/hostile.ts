import { planServerFiles } from "../../src/folder/plan-server-files.ts";
import { generateToolModule } from "../../src/print/tool-module.ts";
import { callEveryTool } from "./calls.ts";
import { toDefinition, type Row } from "./rows.ts";

const MAX_MS = 1_000;
const MAX_CHARACTERS = 1_024 * 1_024;

/** Checks for the `must` of hostile schemas, as far as this package can answer it. */
const CHECKS: readonly { must: RegExp; check: (row: Row) => string | undefined }[] = [
  { must: /one exported function/, check: oneFunction },
  { must: /both (tools )?stay callable/, check: staysApart },
  { must: /do not call it/, check: isNoPromise },
  { must: /stays in the generated folder/, check: staysInFolder },
  { must: /refused with a clear message/, check: isRefused },
  { must: /type unknown|no file is read|no request|not fetched/, check: isUnknown },
  { must: /< 1 s|1 MB|bounded/, check: isBounded },
  {
    must: /typed as array|passes the value through/,
    check: (row) => expectText(row, /input: (?:\w+\[\]|unknown)/),
  },
  { must: /open object/, check: isOpenWithWarning },
  { must: /pattern/, check: (row) => expectText(row, /a\?: string/) },
  {
    must: /cap it/,
    check: (row) => (module(row).code.length < 4_096 ? undefined : "the description is not capped"),
  },
];

/** Checks each `must`; one that nothing here checks is a problem too. */
export async function checkHostile(rows: readonly Row[]): Promise<string[]> {
  const problems = await callEveryTool(rows);
  for (const row of rows) {
    const checks = CHECKS.filter(({ must }) => must.test(row.must ?? ""));
    if (checks.length === 0) problems.push(`${row.id}: nothing checks "${row.must}"`);
    for (const { check } of checks) {
      const problem = check(row);
      if (problem !== undefined) problems.push(`${row.id} (${row.must}): ${problem}`);
    }
  }
  return problems;
}

function plan(rows: readonly Row[]): ReturnType<typeof planServerFiles> {
  return planServerFiles({ server: "adv", definitions: rows.map(toDefinition) });
}

function module(row: Row): ReturnType<typeof generateToolModule> {
  return generateToolModule(
    { ...toDefinition(row), name: row.tool },
    { server: row.server, identifier: "tool" },
  );
}

function expectText(row: Row, expected: RegExp): string | undefined {
  const { code, signature } = module(row);
  return expected.test(code) || expected.test(signature) ? undefined : `${expected} is not in the module`;
}

function oneFunction(row: Row): string | undefined {
  const { lock, skipped } = plan([row]);
  return lock.tools.length === 1 ? undefined : `not generated: ${skipped[0]?.reason}`;
}

/** Beside everything that its name could be confused with. */
function staysApart(row: Row): string | undefined {
  const rivals = [
    row.tool.replaceAll("_", "-"),
    row.tool.replaceAll("_", "."),
    row.tool.toUpperCase(),
    `${row.tool}_`,
  ];
  const names = [...new Set([row.tool, ...rivals])];
  const { lock } = plan(names.map((tool) => ({ ...row, tool })));
  const identifiers = new Set(lock.tools.map((tool) => tool.name));
  const files = new Set(lock.tools.map((tool) => tool.file.toLowerCase()));
  return identifiers.size === names.length && files.size === names.length ? undefined : "names fall together";
}

function isNoPromise(row: Row): string | undefined {
  return plan([row]).lock.tools.some((tool) => tool.name === "then") ? "the index exports `then`" : undefined;
}

function staysInFolder(row: Row): string | undefined {
  const strays = [...plan([row]).files.keys()].filter(
    (file) => !/^[\w$][\w$-]*\.(?:ts|lock\.json)$/.test(file),
  );
  return strays.length === 0 ? undefined : `writes ${strays.join(", ")}`;
}

function isRefused(row: Row): string | undefined {
  const { lock, skipped } = plan([row, { ...row, tool: "other", inputSchema: {} }]);
  const [refused] = skipped;
  return lock.tools.length === 1 && refused !== undefined && refused.reason !== ""
    ? undefined
    : "is not refused";
}

function isUnknown(row: Row): string | undefined {
  return expectText(row, /a\?: unknown|type A = unknown/);
}

function isBounded(row: Row): string | undefined {
  const start = performance.now();
  const { code } = module(row);
  const ms = performance.now() - start;
  return ms < MAX_MS && code.length < MAX_CHARACTERS
    ? undefined
    : `${ms.toFixed(0)} ms, ${code.length} characters`;
}

function isOpenWithWarning(row: Row): string | undefined {
  const { signature, warnings } = module(row);
  if (warnings.length === 0) return "no warning";
  return signature.includes("[key: string]: unknown") ? undefined : "not an open object";
}
