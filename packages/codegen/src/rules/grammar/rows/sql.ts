import { textOf } from "../../language/token.ts";
import type { Span } from "../../language/token.ts";
import { Pattern } from "../../language/pattern.ts";

/** SQL that a step gives. */
export interface GivenSql {
  sql: string;
  /** It changes data. */
  isWrite: boolean;
  /** The step says that it may write. */
  allowsWrites: boolean;
  /** The step's verb only asks: what changes data is not run for it. */
  isAsked: boolean;
}

const LEAD = new Pattern(
  "({verb:@verb}? (me|us)? (results? of)? (this|following)? (sql|database)? (query|statement|command)? (on|against|in)? (database|db)? (with|using)? (sql|query)? :?)?",
  {
    verb: Object.fromEntries(
      "run execute query use perform get show fetch find print return give select insert update delete create drop alter do evaluate"
        .split(" ")
        .map((verb) => [verb, verb]),
    ),
  },
);
const ACTING = /^(?:run|execute|perform|do|evaluate)$/u;
const READS =
  /^(?:select\b[\s\S]+|with\b[\s\S]+\bselect\b[\s\S]+|pragma\s+\w+|explain\b[\s\S]+|show\s+tables)/iu;
const WRITES =
  /^(?:insert\s+into\s+["`[\w]|update\s+["`[\]\w.]+\s+set\s+["`[\]\w.]+\s*=|delete\s+from\s+["`[\w]|(?:create|drop|alter)\s+(?:table|index|view)\s|replace\s+into\s|truncate\s)/iu;
const CHANGES =
  /\b(?:insert\s+into|update\s+\S+\s+set|delete\s+from|drop\s+table|alter\s+table|create\s+table|replace\s+into)\b/iu;
const ALLOWING =
  /(?<![\s,])[\s,]+(?:(?:and|with)\s+)?(?:allow(?:ing|ed)?[ _]writes(?:\s*(?:[=:]\s*)?true)?|writes\s+allowed)\s*$/iu;
const PLACE = /(?<!\s)\s+(?:on|in|from|against)\s+the\s+(?:database|db)\s*$/iu;

/** SQL that the text gives, bare or in quotes, behind words that say to run it. */
export function readSql(span: Span): GivenSql | undefined {
  const start = span.tokens.findIndex(
    (token, at) =>
      isStart(token.kind === "quote" ? textOf(token) : span.source.slice(token.start)) &&
      LEAD.match(span.slice(0, at)) !== undefined,
  );
  const first = span.at(start < 0 ? span.length : start);
  const last = span.at(-1);
  if (first === undefined || last === undefined) return undefined;
  const lead = LEAD.match(span.slice(0, start))?.meaning("verb") ?? "";
  const tail = span.source.slice(first.kind === "quote" ? first.end : first.start, last.end);
  const allowsWrites = ALLOWING.test(tail);
  const rest = tail.replace(ALLOWING, "").replace(PLACE, "");
  if (first.kind === "quote" && rest.trim() !== "") return undefined;
  const sql = (first.kind === "quote" ? textOf(first) : rest).trim().replace(/(?<![;.])[;.]+$/u, "");
  const isWrite = WRITES.test(sql) || CHANGES.test(withoutTexts(sql));
  const isAsked = lead !== "" && !ACTING.test(lead) && !sql.toLowerCase().startsWith(lead);
  return { sql, isWrite, allowsWrites, isAsked };
}

/** Whether words are SQL rather than an order in English: `select the users` is none. */
function isStart(text: string): boolean {
  const sql = text.trim();
  if (/^select\b/iu.test(sql))
    return /^select\b[\s\S]+?\bfrom\b\s+["`[\w]/iu.test(sql)
      ? !/^select\s+(?:the|all|only|users\s)[\s\S]*\bfrom\s+the\b/u.test(sql) && !/\bfrom\s+the\b/iu.test(sql)
      : /^SELECT\s+[\d'"(\w]/u.test(sql);
  if (/^(?:pragma|explain|with)\b/iu.test(sql)) return READS.test(sql) && /^[A-Z]+\b/u.test(sql);
  return WRITES.test(sql) && !/^(?:insert into|update|delete from)\s+the\b/iu.test(sql);
}

/** SQL without the texts in it. */
function withoutTexts(sql: string): string {
  return sql.replaceAll(/'[^']*'|"[^"]*"/gu, "''");
}
