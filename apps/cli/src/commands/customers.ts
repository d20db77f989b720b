import { CemError } from "@cem/core";
import { cleanCustomers, customerUsage, deleteCustomer, listCustomers } from "code-execution-mcp/admin";
import type { CustomerUsage } from "code-execution-mcp/admin";
import { askYesNo } from "../ask-yes-no.ts";
import type { Answer } from "../answer.ts";
import type { CommandContext } from "../command-context.ts";
import { serverSourceOf } from "../config-source.ts";
import { EXIT_FAILED, EXIT_OK } from "../exit-codes.ts";
import type { CustomerAction, InvocationOf } from "../invocation.ts";
import { renderCustomers } from "../render-customers.ts";
import { counted } from "../text-layout.ts";

/** `cem customers`: what customers have on disk, and removing it. */
export async function manageCustomers(
  invocation: InvocationOf<"customers">,
  context: CommandContext,
): Promise<Answer> {
  const { action, id, options } = invocation;
  const source = serverSourceOf(options, context);
  switch (action) {
    case "list":
      return answer(await listCustomers(source), "customer");
    case "usage":
      return answer([await customerUsage(requireId(action, id), source)], "customer");
    case "clean":
      return clean(invocation, context);
    case "delete":
      return remove(invocation, context);
  }
}

async function clean(
  { inactive, dryRun, yes, options }: InvocationOf<"customers">,
  context: CommandContext,
): Promise<Answer> {
  if (inactive === undefined) {
    throw new CemError("USAGE", "cem customers clean needs --inactive with a number of days: --inactive 30d");
  }
  const source = serverSourceOf(options, context);
  const wouldGo = await cleanCustomers(inactive, { ...source, isDryRun: true });
  if (dryRun || wouldGo.length === 0) return answer(wouldGo, "customer to remove");
  if (
    !yes &&
    !(await askYesNo(`Remove ${counted(wouldGo.length, "customer")} with everything of theirs?`, context))
  )
    return nothingDone();
  return answer(await cleanCustomers(inactive, source), "customer removed");
}

async function remove(
  { action, id, yes, options }: InvocationOf<"customers">,
  context: CommandContext,
): Promise<Answer> {
  const named = requireId(action, id);
  const source = serverSourceOf(options, context);
  const usage = await customerUsage(named, source);
  if (!yes && !(await askYesNo(`Remove everything of ${named}, ${counted(usage.entries, "file")}?`, context)))
    return nothingDone();
  await deleteCustomer(named, source);
  return answer([usage], "customer removed");
}

function answer(customers: readonly CustomerUsage[], what: string): Answer {
  return {
    exitCode: EXIT_OK,
    data: { status: "success", customers },
    report: (style) => renderCustomers(customers, what, style),
    brief: () => customers.map(({ id }) => id).join("\n"),
  };
}

function nothingDone(): Answer {
  return {
    exitCode: EXIT_FAILED,
    data: { status: "error", customers: [] },
    report: () => ["", "  Nothing was removed. To remove without being asked: --yes"],
    brief: () => "",
  };
}

/** @throws CemError `USAGE` */
function requireId(action: CustomerAction, id: string | undefined): string {
  if (id !== undefined) return id;
  throw new CemError("USAGE", `cem customers ${action} needs a customer's id. See: cem customers --help`);
}
