import type { ToolDefinition } from "@cem/core";
import { isVerb, splitStems, splitWords, stem } from "@cem/text";
import { fillArguments } from "../arguments/fill.ts";
import { sqlParameter } from "../arguments/roles.ts";
import { matchTools } from "../matching/match-tools.ts";
import { sameWords } from "../planning/references.ts";
import { type Plan, Unfilled } from "../planning/plan.ts";
import { hasType, propertiesOf, type Value } from "../planning/value.ts";
import { type Expression, literal, member } from "../program/expression.ts";
import { plural, singular } from "../program/names.ts";
import { readSelection } from "../reading/selection.ts";
import type { RowSelection } from "../reading/row-selection.ts";
import { applySelection } from "./rows.ts";
import { describedTables, descriptionOf, findTable } from "./tables.ts";
import { isForTool, type StepContext } from "./operation.ts";

const SQL =
  /^\s*(?:(?:run|execute|query|use)\s+(?:the\s+)?(?:sql\s+|database\s+)?(?:query|statement|sql)?\s*:?\s*(?:on the database:?\s*)?)?["'`]?\s*((?:select|with|insert|update|delete|create|drop|alter|pragma|explain)\b[\s\S]+)$/iu;
const ASKS =
  /^(?:query|get|fetch|find|show|list|count|how|what|which|who|retrieve|search|select|look|calculate|compute|average|sum|total|the|give|tell|read|load|top|are|is|display|median|mean|sort|group)\b/iu;
/** `group the users by city` asks for the users, as `get users grouped by city` does. */
const GROUPS = /^group\s+(?:the\s+|all\s+)*((?!(?:them|it|those|these|that|rows|results)\b)\p{L}+)\s+by\b/iu;
const DATABASE_WORDS = /\b(?:database|db|sql|tables?)\b/iu;

/** Asks a tool that takes SQL, with the text's own SQL or with a query made for what the text names. */
export function planDataQuery(given: StepContext): boolean {
  const context = {
    ...given,
    step: { ...given.step, text: given.step.text.replace(GROUPS, "get $1 grouped by") },
  };
  const { step, plan } = context;
  const tool = plan.tools.find((one) => sqlParameter(one) !== undefined);
  if (tool === undefined) return false;
  const sql = readSql(step.text);
  if (sql !== undefined) {
    const table = /\bfrom\s+["`[]?(\w+)/iu.exec(sql)?.[1];
    callWithSql(plan, tool, sql, table ?? "rows");
    return true;
  }
  const tables = describedTables(tool);
  const isTable = (noun: string): boolean => findTable(noun, tables.keys()) !== undefined;
  if (!(ASKS.test(step.text) || namesTable(step.text, tool, isTable)) || hasBetterTool(context, tool))
    return false;
  const parts = splitTables(step.text, isTable);
  if (parts.length > 1)
    return parts.every((part) =>
      planDataQuery({ ...context, step: { ...step, text: part }, matches: matchTools(part, plan.tools) }),
    );
  const selection = readSelection(step.text, isTable);
  placeNouns(selection, tool, step.text);
  const entity =
    tables.size > 0
      ? placeColumns(selection, tables)
      : selection.entity.find((noun) => isKnownEntity(noun, step.text, tool, plan));
  if (entity === undefined) return false;
  placeFields(selection, tool);
  const unread = [
    ...selection.adjectives.filter((word) => splitStems(word).length > 0 && VERB_LIKE.test(word)),
    selection.rest,
  ].filter((word) => word !== "");
  if (unread.length > 0) {
    throw new Unfilled({
      step: step.text,
      reason: "missing-argument",
      tool: `${tool.server}.${tool.name}`,
      argument: "condition",
      hint: `Say "${unread.join(" ")}" as a condition on a column, or give the SQL.`,
    });
  }
  if (
    selection.aggregate !== undefined &&
    selection.aggregate.field === undefined &&
    selection.aggregate.kind !== "count" &&
    selection.aggregate.kind !== "statistics"
  ) {
    const field = selection.columns?.pop() ?? selection.adjectives.pop();
    if (field !== undefined) selection.aggregate.field = field;
  }
  const table = findTable(entity, tables.keys()) ?? tableName(entity, knownWords(tool));
  const rows = callWithSql(plan, tool, `SELECT * FROM ${table}`, table);
  const columns = tables.get(table);
  if (columns !== undefined)
    rows.schema = {
      type: "array",
      items: { type: "object", properties: Object.fromEntries(columns.map((column) => [column, {}])) },
    };
  planInStep(step.text, () => applySelection(plan, rows, selection));
  return true;
}

/** Verbs that say how a row came about: none of them is a value in a column. */
const VERB_LIKE =
  /^(?:joined|bought|purchased|ordered|signed|made|spent|registered|belong|belonging|when|not|except|without|but)$/u;

/** A refusal inside of a step names the step. */
function planInStep(step: string, plan: () => unknown): void {
  try {
    plan();
  } catch (error) {
    throw error instanceof Unfilled ? new Unfilled({ ...error.step, step }) : error;
  }
}

/** `the active users and the pending orders`: each a table, each a question of its own. */
function splitTables(text: string, isTable: (noun: string) => boolean): string[] {
  const verb =
    /^\s*(?:(?:get|fetch|show|list|count|query|find|how many|give|retrieve|load|read)\s+(?:me\s+|the\s+|all\s+)*)/iu.exec(
      text,
    )?.[0] ?? "";
  const parts = text.slice(verb.length).split(/\s*,\s*(?:and\s+)?|\s+and\s+/iu);
  const areTables = parts.every((part) => {
    const words = splitWords(part.replace(/^(?:all\s+)?(?:the\s+)?|\s+from\s+the\s+(?:database|db)$/giu, ""));
    return words.length <= 3 && isTable(words.at(-1) ?? "");
  });
  return areTables && parts.length <= 10 ? parts.map((part) => `${verb}${part}`) : [text];
}

/** The table that is named, and the columns that are asked of it. */
function placeColumns(
  selection: RowSelection,
  tables: ReadonlyMap<string, readonly string[]>,
): string | undefined {
  // A table that a condition named ("orders over 200") stands behind its adjectives.
  const [first = "", ...more] = selection.entity;
  const nouns = [...selection.adjectives, ...more, first, ...selection.rest.split(" ")].filter(
    (word) => word !== "",
  );
  const named = [
    ...new Set(nouns.map((noun) => findTable(noun, tables.keys())).filter((one) => one !== undefined)),
  ];
  const [table] = named;
  if (table === undefined || named.length > 1) return table;
  const columns = tables.get(table) ?? [];
  const isTable = (word: string): boolean => findTable(word, tables.keys()) === table;
  const isColumn = (word: string): boolean => columns.some((column) => sameWords(column, word));
  const at = nouns.findIndex(isTable);
  const asked = nouns.filter(
    (word, place) => !isTable(word) && isColumn(word) && (place < at || singular(word) !== word),
  );
  const takesField =
    selection.aggregate !== undefined &&
    selection.aggregate.kind !== "count" &&
    selection.aggregate.kind !== "statistics";
  if (asked.length > 0 && takesField)
    selection.aggregate = {
      ...selection.aggregate,
      kind: selection.aggregate?.kind ?? "count",
      field: selection.aggregate?.field ?? asked[0] ?? "",
    };
  else if (asked.length > 0 && selection.groupBy === undefined)
    selection.columns = [...(selection.columns ?? []), ...asked.map((word) => singular(word))];
  const others = nouns.filter((word) => !isTable(word) && !asked.includes(word));
  selection.adjectives = others.filter((word) => nouns.indexOf(word) < at);
  selection.rest = others.filter((word) => nouns.indexOf(word) > at).join(" ");
  selection.entity = [table];
  return table;
}

/** `users older than 50`, `cheapest product` ask for rows without a verb. */
function namesTable(text: string, tool: ToolDefinition, isTable: (noun: string) => boolean): boolean {
  const words = splitWords(text.slice(0, 200));
  const [first] = words;
  if (first === undefined) return false;
  if (plural(singular(first)) === first && knownWords(tool).has(first)) return true;
  return !isVerb(first) && words.some(isTable);
}

/** `created after …` means the column `created_at`, where the tool's own description has it. */
function placeFields(selection: RowSelection, tool: ToolDefinition): void {
  const columns = new Set(descriptionOf(tool).match(/[a-z]\w*/giu));
  for (const filter of selection.filters) {
    const { field } = filter;
    if (field === undefined || columns.has(field)) continue;
    const longer = ["at", "date", "on", "time"]
      .map((ending) => `${field}_${ending}`)
      .find((column) => columns.has(column));
    if (longer !== undefined) filter.field = longer;
  }
}

/** `the total of all orders`, `order totals`: which noun is the table, and which the column. */
function placeNouns(selection: RowSelection, tool: ToolDefinition, text: string): void {
  const known = knownWords(tool);
  const isTable = (word: string): boolean => known.has(plural(singular(word)));
  const { aggregate } = selection;
  const needsField = aggregate !== undefined && aggregate.kind !== "count" && aggregate.kind !== "statistics";
  const [owner = "", ...rest] = aggregate?.field?.split("_") ?? [];
  if (needsField && rest.length > 0 && isTable(owner)) {
    aggregate.field = rest.join("_");
    selection.entity = [owner];
  }
  if (
    needsField &&
    aggregate.field !== undefined &&
    isTable(aggregate.field) &&
    selection.entity.length === 0
  ) {
    selection.entity = [aggregate.field];
    delete aggregate.field;
  }
  const nouns = [...selection.adjectives, ...selection.entity];
  const table = nouns.find(isTable);
  if (needsField && aggregate.field === undefined && table !== undefined) {
    const field = nouns.find((noun) => noun !== table && known.has(singular(noun)));
    if (field !== undefined) aggregate.field = singular(field);
    else if (/\btotal\b/iu.test(text) && known.has("total")) aggregate.field = "total";
    selection.adjectives = selection.adjectives.filter((word) => word !== field && word !== table);
    selection.entity = [table];
  }
}

/** Another tool suits the step and the step says all that it needs. */
function hasBetterTool(context: StepContext, tool: ToolDefinition): boolean {
  const best = context.matches[0]?.tool;
  if (!isForTool(context) || best === undefined || best === tool) return false;
  return fillArguments(best, context.step, context.plan).missing.length === 0;
}

/** SQL that the text gives, bare or in quotes. */
function readSql(text: string): string | undefined {
  const match =
    SQL.exec(text)?.[1] ??
    /(?:^|[:\s])((?:SELECT\s+\S[\s\S]*?\sFROM|WITH\s+\w+\s+AS)\s[\s\S]+)$/u.exec(text)?.[1] ??
    /["'`]\s*((?:select|with)\b[\s\S]+?)["'`]\s*$/iu.exec(text)?.[1];
  if (match === undefined) return undefined;
  const sql = match
    .trim()
    .replace(/\s+(?:on|in|from|against) the database\.?$/iu, "")
    .replace(/[;.]+$/u, "");
  const isSql =
    /^select\b[\s\S]+\bfrom\b\s+["`[\w]/iu.test(sql) ||
    (/^select\s+[\d'"(\w]+\s*\(?/u.test(sql) && /^SELECT\b/u.test(sql)) ||
    /^(?:WITH|PRAGMA|EXPLAIN|INSERT INTO|UPDATE \w+ SET|DELETE FROM|CREATE TABLE|DROP TABLE|ALTER TABLE)\b/u.test(
      sql,
    );
  if (!isSql || (/^select\b/u.test(sql) && /\bfrom\s+the\b/iu.test(sql))) return undefined;
  const isQuotedWhole =
    /^["'`]\s*(?:select|with)/iu.test(text.slice(text.indexOf(match) - 1)) && /["'`]$/u.test(sql);
  return isQuotedWhole ? sql.slice(0, -1) : sql;
}

function knownWords(tool: ToolDefinition): ReadonlySet<string> {
  return new Set(splitWords(descriptionOf(tool)));
}

function isKnownEntity(noun: string, text: string, tool: ToolDefinition, plan: Plan): boolean {
  const sisters = plan.tools.filter((one) => one.server === tool.server);
  const stems = new Set(sisters.flatMap((one) => [...knownWords(one)].map(stem)));
  if (stems.has(stem(noun))) return true;
  return DATABASE_WORDS.test(text) && /^[a-z_]\w*$/iu.test(noun);
}

/** The table as the tool's own description spells it, else as the text does. */
function tableName(entity: string, known: ReadonlySet<string>): string {
  if (known.has(plural(entity))) return plural(entity);
  if (known.has(entity)) return entity;
  return [...known].find((word) => stem(word) === stem(entity) && word.endsWith("s")) ?? entity;
}

/** Calls the tool and keeps the rows it gives. */
function callWithSql(plan: Plan, tool: ToolDefinition, sql: string, table: string): Value {
  const parameter = sqlParameter(tool);
  const expression = plan.callTool(tool, new Map([[parameter?.name ?? "sql", literal(sql)]]));
  return declareRows(plan, expression, tool, table);
}

/** Declares a tool's list; where it is wrapped in an object, the list inside is taken out. */
function declareRows(plan: Plan, expression: Expression, tool: ToolDefinition, words: string): Value {
  const schema = tool.outputSchema ?? {};
  const lists = propertiesOf(schema).filter(([, part]) => hasType(part, "array"));
  const [list] = lists;
  if (!hasType(schema, "object") || list === undefined || lists.length > 1) {
    return plan.declare(expression, {
      words,
      schema: hasType(schema, "array") ? schema : { type: "array", items: { type: "object" } },
    });
  }
  const whole = plan.declare(expression, { words: `${words} result`, schema });
  whole.consumed = true;
  return plan.declare(member(whole.expression, list[0]), { words, schema: list[1] });
}
