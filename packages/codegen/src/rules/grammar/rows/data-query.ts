import type { JsonSchema, ToolDefinition } from "@cem/core";
import { splitWords, stem } from "@cem/text";
import { readParameters, sqlParameter } from "../calls/parameters.ts";
import { changes } from "../calls/verbs.ts";
import type { Span } from "../../language/token.ts";
import { describedTables, descriptionOf, findTable } from "./tables.ts";
import { type Plan, Unfilled } from "../../planning/plan.ts";
import { RANK, type Reading } from "../../planning/reading.ts";
import type { Production, Step } from "../../planning/step.ts";
import { hasType, propertiesOf, type Value } from "../../planning/value.ts";
import { type Expression, literal, member } from "../../program/expression.ts";
import { plural, singular } from "../../program/names.ts";
import { Columns } from "./columns.ts";
import { print } from "./collection.ts";
import { applySelection } from "./lower-rows.ts";
import { notUnderstood } from "./refusal.ts";
import { readRequest } from "./request.ts";
import { type NounReader, RowReader } from "./row-reader.ts";
import { toNoun } from "./sources.ts";
import { type GivenSql, readSql } from "./sql.ts";

const DATABASE = /^(?:database|db|sql|table|tables)$/u;
const WRITING = /^(?:write|insert|update|delete|execute|modify|alter|create|drop)$/u;
const MAX_TABLES = 4;

/** A question to a tool that takes SQL: with the text's own SQL, or with a query made for what the text names. */
export const readDataQuery: Production = (step, plan) => {
  const tools = plan.tools.filter((tool) => isSqlTool(tool));
  if (tools.length === 0) return undefined;
  const given = readSql(step.span);
  if (given !== undefined) return readGiven(step, plan, given, tools);
  const reading = tools.filter((tool) => !isWriting(tool));
  const tool = reading.find((one) => tableNouns(step.span, one, plan).length > 0);
  if (tool === undefined) return undefined;
  return readSeveral(step.span, plan, tool) ?? readTable(step, plan, tool);
};

function isSqlTool(tool: ToolDefinition): boolean {
  const sql = sqlParameter(tool);
  return sql !== undefined && readParameters(tool).every((one) => !one.isRequired || one.name === sql.name);
}

function isWriting(tool: ToolDefinition): boolean {
  return changes(tool) || splitWords(tool.name).some((word) => WRITING.test(word));
}

function readGiven(
  step: Step,
  plan: Plan,
  { sql, isWrite, allowsWrites, isAsked }: GivenSql,
  tools: readonly ToolDefinition[],
): Reading | undefined {
  if (isWrite && isAsked)
    throw new Unfilled({
      step: step.text,
      reason: "missing-argument",
      argument: sql,
      hint: `"${sql.slice(0, 80)}" changes data, and the step only asks. Say "run" to run it.`,
    });
  const tool =
    tools.find((one) => isWriting(one) === isWrite) ??
    (isWrite ? tools[0] : tools.find((one) => !isWriting(one)));
  if (tool === undefined) return undefined;
  const permission = allowsWrites
    ? propertiesOf(tool.inputSchema).find(([key]) => /writes?$/u.test(splitWords(key).join(" ")))
    : undefined;
  if (allowsWrites && permission === undefined)
    throw new Unfilled({
      step: step.text,
      reason: "missing-argument",
      argument: "allow writes",
      hint: `${tool.server}.${tool.name} has no parameter that allows writes. Leave it out.`,
    });
  const table = /\bfrom\s+["`[]?(\w+)/iu.exec(sql)?.[1] ?? "rows";
  return {
    kind: "sql",
    rank: RANK.named,
    lower() {
      callWithSql(plan, tool, sql, table, permission?.[0]);
    },
  };
}

/** `get the active users and the pending orders`: each a table, each a question of its own. */
function readSeveral(span: Span, plan: Plan, tool: ToolDefinition): Reading | undefined {
  const parts = span.list;
  const nouns = parts.map((part) => tableNouns(part, tool, plan));
  const tables = new Set(nouns.flatMap((found) => found.map(({ table }) => table)));
  if (parts.length < 2 || parts.length > 10 || nouns.some((found) => found.length !== 1) || tables.size < 2)
    return undefined;
  const asked = parts.map((part) => parseTable(part, tool, plan));
  if (!asked.every((one) => one?.isRead === true)) return undefined;
  const { selection } = asked[0]?.reader ?? {};
  if (selection?.columns !== undefined || selection?.aggregate !== undefined) return undefined;
  return {
    kind: "query",
    rank: RANK.tool + 0.5,
    lower() {
      for (const one of asked) if (one !== undefined) ask(plan, tool, one);
    },
  };
}

interface Asked {
  table: TableNoun;
  reader: RowReader;
  isRead: boolean;
}

/** Reads a question about one of the tables that it names. */
function parseTable(span: Span, tool: ToolDefinition, plan: Plan): Asked | undefined {
  const asked = tableNouns(span, tool, plan).map((table): Asked => {
    const reader = new RowReader(span, new Columns(itemOf(table), table.table), table.noun);
    const isRead = readRequest(reader, true) && !/^(?:keep|drop|limit)$/u.test(reader.verb);
    return { table, reader, isRead };
  });
  return (
    asked.find(({ isRead }) => isRead) ??
    asked.toSorted((a, b) => b.reader.cursor.furthest - a.reader.cursor.furthest)[0]
  );
}

function readTable(step: Step, plan: Plan, tool: ToolDefinition): Reading | undefined {
  const asked = parseTable(step.span, tool, plan);
  if (asked === undefined) return undefined;
  if (!asked.isRead) throw notUnderstood(step, asked.reader, asked.table.table, tool);
  return { kind: "query", rank: rankOf(asked, tool), lower: () => ask(plan, tool, asked) };
}

/** What is said in the words of columns that are known is said of them; a whole table or one row may be a tool's own. */
function rankOf({ table, reader }: Asked, tool: ToolDefinition): number {
  const { conditions, limit, sort, ranking, group, aggregate, columns } = reader.selection;
  const isOneRow = limit?.isSingle === true && conditions.length <= 1 && columns === undefined;
  const isSummed = aggregate !== undefined && aggregate.kind !== "count";
  const saysMore =
    conditions.length + sort.length > 0 || [ranking, group, columns].some((part) => part !== undefined);
  const isCounted = aggregate?.kind === "count" && !saysMore;
  const { words } = reader.cursor.span;
  if (isCounted) return RANK.plain + 0.6;
  if (words.some((word) => DATABASE.test(word)) || splitWords(tool.name).includes(words[0] ?? ""))
    return RANK.tool + 0.5;
  return table.columns.length > 0 && !isOneRow && (saysMore || isSummed) ? RANK.tool + 0.5 : RANK.plain + 0.6;
}

function ask(plan: Plan, tool: ToolDefinition, { table, reader }: Asked): void {
  const rows = callWithSql(plan, tool, `SELECT * FROM ${table.table}`, table.table);
  if (table.columns.length > 0) rows.schema = { type: "array", items: itemOf(table) };
  const made = applySelection(plan, rows, reader.selection);
  if (reader.verb === "print") print(plan, made);
}

/** What a row of a table is, as far as it is known. */
function itemOf({ columns }: TableNoun): JsonSchema {
  return { type: "object", properties: Object.fromEntries(columns.map((column) => [column, {}])) };
}

interface TableNoun {
  table: string;
  columns: readonly string[];
  noun: NounReader;
}

/** The tables that a text names, in their order. */
function tableNouns(span: Span, tool: ToolDefinition, plan: Plan): TableNoun[] {
  const described = describedTables(tool);
  const isDatabase = span.words.some((word) => DATABASE.test(word));
  const names = span.tokens
    .filter((token) => token.kind === "word")
    .flatMap(({ lower }) =>
      described.size > 0
        ? (findTable(lower, described.keys()) ?? [])
        : (mentionedTable(lower, tool, plan, isDatabase) ?? []),
    );
  return [...new Set(names)]
    .slice(0, MAX_TABLES)
    .map((table) => ({ table, columns: described.get(table) ?? [], noun: nounOf(table) }));
}

/** A table that the tools of a server speak of, where none is described with its columns. */
function mentionedTable(
  word: string,
  tool: ToolDefinition,
  plan: Plan,
  isDatabase: boolean,
): string | undefined {
  if (plural(singular(word)) !== word || DATABASE.test(word)) return undefined;
  const sisters = plan.tools.filter((one) => one.server === tool.server);
  const known = new Set(sisters.flatMap((one) => splitWords(descriptionOf(one))));
  if (known.has(word)) return word;
  return isDatabase || [...known].some((one) => stem(one) === stem(word) && one.endsWith("s"))
    ? word
    : undefined;
}

/** `users`, `users table`, `rows of the users table`. */
function nounOf(table: string): NounReader {
  return (cursor) => {
    cursor.attempt(
      () => (cursor.is("rows|records|entries|everything|all") && cursor.one("of|from|in")) || undefined,
    );
    const token = cursor.take((one) => one.kind === "word" && findTable(one.lower, [table]) !== undefined);
    if (token === undefined) return undefined;
    cursor.attempt(() => cursor.one("table|rows|records|entries"));
    return toNoun(token.lower, false, cursor);
  };
}

/** Calls the tool and keeps the rows it gives; where they are wrapped in an object, the list inside is taken out. */
function callWithSql(
  plan: Plan,
  tool: ToolDefinition,
  sql: string,
  words: string,
  permission?: string,
): Value {
  const args = new Map<string, Expression>([[sqlParameter(tool)?.name ?? "sql", literal(sql)]]);
  if (permission !== undefined) args.set(permission, literal(true));
  const expression = plan.callTool(tool, args);
  const schema = tool.outputSchema ?? {};
  const lists = propertiesOf(schema).filter(([, part]) => hasType(part, "array"));
  const [list] = lists;
  if (!hasType(schema, "object") || list === undefined || lists.length > 1)
    return plan.declare(expression, {
      words,
      schema: hasType(schema, "array") ? schema : { type: "array", items: { type: "object" } },
    });
  const whole = plan.declare(expression, { words: `${words} result`, schema });
  whole.consumed = true;
  return plan.declare(member(whole.expression, list[0]), { words, schema: list[1] });
}
