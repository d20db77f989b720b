import type { ToolDefinition } from "@cem/core";
import { isStopWord, splitWords } from "@cem/core/text";
import { onePage } from "../calls/many-calls.ts";
import { mayBeOnePage, sqlParameter } from "../calls/parameters.ts";
import { form, type Phrase } from "../language/phrase.ts";
import type { Plan } from "../planning/plan.ts";
import { isInWorkspace, isTextFile, loadFile, referTo } from "../planning/references.ts";
import { cite, hasType, idOf, isRows, type Value } from "../planning/value.ts";
import { call, literal, singular, type Expression } from "../program/expression.ts";

const FILE = form("(?:file )?{file:path}(?: file)?");
const TABLE = form("(?:{table:name} table|table {named:name}|{listed:name} (?:in|from|of) database)");
const ANY_ROWS =
  /^(?:rows?|records?|entries|items|results?|lines of data|them|it|these|those|ones?|list|of them)$/u;

/** The rows that words name: a file, a table, or the result of an earlier step. */
export function readSource(phrase: Phrase, plan: Plan): Value | undefined {
  const path = phrase.match(FILE)?.text("file");
  if (path !== undefined && isInWorkspace(path) && isTextFile(path)) return loadFile(path, plan);
  const table = phrase.match(TABLE);
  if (table !== undefined) {
    const name = table.text("table") || table.text("named") || table.text("listed");
    const tool = sqlTool(plan, phrase.shape);
    return tool === undefined ? undefined : queryTable(name, tool, plan);
  }
  return ANY_ROWS.test(phrase.shape) ? currentRows(plan) : referTo(phrase.shape, plan);
}

/** The only tool that takes SQL, or the one whose server the step names. */
export function sqlTool(plan: Plan, shape: string): ToolDefinition | undefined {
  const tools = plan.tools.filter((tool) => sqlParameter(tool) !== undefined);
  const named = tools.filter(({ server, name }) =>
    splitWords(`${server} ${name}`).some((word) => shape.split(" ").includes(word)),
  );
  const [first, second] = named.length > 0 ? named : tools;
  if (first === undefined || second === undefined) return first;
  const hint = `${cite(plan.stepText)} may mean ${idOf(first)} or ${idOf(second)}. Name one of them.`;
  throw plan.unread("tool", hint);
}

export function queryTable(table: string, tool: ToolDefinition, plan: Plan): Value {
  const parameter = sqlParameter(tool);
  if (parameter === undefined || isStopWord(table) || !/^[A-Za-z_]\w{0,62}$/u.test(table))
    throw plan.lacks("table", `${cite(table)} is not the name of a table.`, tool);
  const args = new Map<string, Expression>([[parameter.name, literal(`SELECT * FROM ${table}`)]]);
  return plan.declare(plan.callTool(tool, args), {
    words: table,
    schema: tool.outputSchema,
    pageOf: mayBeOnePage(tool) ? idOf(tool) : undefined,
  });
}

export function currentRows(plan: Plan): Value | undefined {
  const last = plan.values.at(-1);
  if (last === undefined || last.isReceipt === true || hasType(last.schema, "number", "integer", "boolean"))
    return undefined;
  return last;
}

/** Whether a noun may refer to rows: a generic word, or the name of the result. */
export function meansRows(noun: string, rows: Value): boolean {
  if (noun === "" || ANY_ROWS.test(noun)) return true;
  const own = splitWords(rows.words).at(-1) ?? "";
  return singular(noun) === singular(own);
}

export function rowsOf(value: Value, plan: Plan): Expression {
  if (value.pageOf !== undefined) throw onePage(value, plan);
  value.consumed = true;
  return isRows(value) ? value.expression : call("rowsOf", value.expression);
}
