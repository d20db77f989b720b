import { BYTES_PER_MB, CemError } from "@cem/core";
import type { CustomerUsage } from "code-execution-mcp/admin";
import { InvalidArgumentError } from "commander";
import { askYesNo } from "../ask/prompt.ts";
import type { Answer, CommandContext } from "../io/terminal.ts";
import { MAX_ROWS, renderTable } from "../render/rows.ts";
import { counted, type Style } from "../render/text.ts";
import { actionArgument, serverSourceOf } from "../command/options.ts";
import { answer, defineCommand, needed, type Given } from "../command/define-command.ts";

const ACTIONS = ["list", "usage", "clean", "delete"] as const;
const AN_ID = "a customer's id";

interface Customers {
  action: (typeof ACTIONS)[number];
  id?: string | undefined;
  inactive?: number | undefined;
  dryRun: boolean;
  yes: boolean;
}

export const customers = defineCommand<Customers>({
  name: "customers",
  group: "operation",
  about: "List, measure and remove customers",
  help: `
Each customer has a folder in customers.dir, which nobody else's code can see. Removing one leaves
nothing but a digest of its id with what it has used of its quotas, until the period ends.

Examples:
  cem customers
  cem customers usage user_12345
  cem customers clean --inactive 30d --dry-run
  cem customers delete user_12345
  cem run --customer user_12345 "Calculate 5 + 3"`,
  settings: ["config"],
  declare: (command) =>
    command
      .addArgument(actionArgument(ACTIONS, "list"))
      .argument("[id]", "the customer")
      .option("--inactive <days>", "for clean: those that were not used for so many days", days)
      .option("--dry-run", "for clean: only say which", false)
      .option("-y, --yes", "remove without asking", false),
  async run(invocation, context) {
    const { customerUsage, listCustomers } = await import("code-execution-mcp/admin");
    const { action, id, options } = invocation;
    const source = serverSourceOf(options, context);
    switch (action) {
      case "list": {
        const isWhole = options.json || options.quiet;
        const { customers: some, others } = await listCustomers(source, isWhole ? Infinity : MAX_ROWS);
        return listed(some, "customer", others);
      }
      case "usage":
        return listed([await customerUsage(needed(id, "customers usage", AN_ID), source)], "customer");
      case "clean":
        return clean(invocation, context);
      case "delete":
        return remove(invocation, context);
    }
  },
});

/** `30d` or `30`. */
function days(text: string): number {
  const [, number] = /^(\d{1,5}(?:\.\d)?)d?$/u.exec(text) ?? [];
  if (number === undefined) throw new InvalidArgumentError("It is a number of days, such as 30d.");
  return Number(number);
}

async function clean({ inactive, dryRun, yes, options }: Given<Customers>, context: CommandContext) {
  const { cleanCustomers } = await import("code-execution-mcp/admin");
  if (inactive === undefined)
    throw new CemError("USAGE", "cem customers clean needs --inactive with a number of days: --inactive 30d");
  const source = serverSourceOf(options, context);
  const wouldGo = await cleanCustomers(inactive, { ...source, isDryRun: true });
  if (dryRun || wouldGo.length === 0) return listed(wouldGo, "removable customer");
  const question = `Remove ${counted(wouldGo.length, "customer")} with everything of theirs?`;
  if (!yes && !(await askYesNo(question, context))) return nothingDone();
  return listed(await cleanCustomers(inactive, source), "customer removed");
}

async function remove({ id, yes, options }: Given<Customers>, context: CommandContext): Promise<Answer> {
  const { customerUsage, deleteCustomer } = await import("code-execution-mcp/admin");
  const named = needed(id, "customers delete", AN_ID);
  const source = serverSourceOf(options, context);
  const usage = await customerUsage(named, source);
  if (!yes && !(await askYesNo(`Remove everything of ${named}, ${counted(usage.entries, "file")}?`, context)))
    return nothingDone();
  await deleteCustomer(named, source);
  return listed([usage], "customer removed");
}

function listed(customers: readonly CustomerUsage[], what: string, others = 0): Answer {
  return answer({
    data: { customers },
    report: (shown, style) => renderCustomers(shown.customers, { what, others }, style),
    brief: (shown) => shown.customers.map(({ id }) => id).join("\n"),
  });
}

function nothingDone(): Answer {
  const report = (): string[] => ["", "  Nothing was removed. To remove without being asked: --yes"];
  return answer({ data: { customers: [] }, isDone: false, report, brief: () => "" });
}

const DATE_CHARACTERS = 10;

function renderCustomers(
  customers: readonly CustomerUsage[],
  { what, others }: { what: string; others: number },
  style: Style,
): string[] {
  const rows = customers.map(({ id, bytes, entries, lastUsed }) => ({
    customer: id,
    MB: Number((bytes / BYTES_PER_MB).toFixed(1)),
    files: entries,
    "last used": lastUsed.slice(0, DATE_CHARACTERS),
  }));
  const table = rows.length === 0 ? [] : renderTable(rows, style).map((line) => `  ${line}`);
  return [
    "",
    ...table,
    ...(others === 0 ? [] : [style.colors.dim(`  … ${counted(others, "more row")}`)]),
    ...(rows.length === 0 ? [] : [""]),
    ...renderQuotas(customers, style),
    style.colors.dim(`  ${counted(rows.length + others, what)}.`),
  ];
}

function renderQuotas(customers: readonly CustomerUsage[], style: Style): string[] {
  const rows = customers.flatMap(({ id, quotas = [] }) =>
    quotas.map(({ per, runs, maxRuns, seconds, maxSeconds, resetsInMs }) => ({
      customer: id,
      per,
      runs: maxRuns === undefined ? String(runs) : `${runs} of ${maxRuns}`,
      seconds: [seconds.toFixed(1), ...(maxSeconds === undefined ? [] : [`of ${maxSeconds}`])].join(" "),
      "free again": resetsInMs === undefined ? "" : `in ${formatWait(resetsInMs)}`,
    })),
  );
  return rows.length === 0 ? [] : [...renderTable(rows, style).map((line) => `  ${line}`), ""];
}

function formatWait(ms: number): string {
  const minutes = Math.ceil(ms / 60_000);
  if (minutes < 2) return `${Math.ceil(ms / 1_000)} s`;
  return minutes < 120 ? `${minutes} min` : `${Math.ceil(minutes / 60)} h`;
}
