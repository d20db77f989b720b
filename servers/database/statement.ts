/** One statement that may run. */
export interface Statement {
  sql: string;
  /** Whether it changes data or tables. */
  writes: boolean;
  /** How many `?` it has; null when its placeholders have names or numbers. */
  placeholders: number | null;
}

const READS = new Set(["SELECT", "VALUES", "EXPLAIN", "PRAGMA", "WITH"]);
const WRITES = new Set([
  "INSERT",
  "UPDATE",
  "DELETE",
  "REPLACE",
  "CREATE",
  "ALTER",
  "DROP",
  "REINDEX",
  "ANALYZE",
]);

/** Pragmas that only tell about the database. */
const READ_PRAGMAS = new Set([
  "table_info",
  "table_xinfo",
  "table_list",
  "index_list",
  "index_info",
  "index_xinfo",
  "foreign_key_list",
  "foreign_key_check",
  "database_list",
  "integrity_check",
  "quick_check",
  "user_version",
  "schema_version",
  "page_count",
  "page_size",
  "encoding",
]);

/** Comments, quoted text and names, words, and single characters of SQL. */
const TOKEN =
  /--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|'(?:[^']|'')*'?|"(?:[^"]|"")*"?|`(?:[^`]|``)*`?|\[[^\]]*\]?|[\p{L}_][\p{L}\p{N}_$]*|\S/gu;

/** Says whether a statement may run, and how; throws with the reason if it may not. */
export function checkStatement(sql: string, allowWrites: boolean): Statement {
  const tokens = (sql.match(TOKEN) ?? []).filter(
    (token) => !token.startsWith("--") && !token.startsWith("/*"),
  );
  while (tokens.at(-1) === ";") tokens.pop();
  const words = tokens.map((token) => token.toUpperCase());
  const verb = words[0];
  if (verb === undefined)
    throw new SyntaxError('The SQL is empty. Give a statement such as "SELECT * FROM users".');
  const isTrigger = verb === "CREATE" && words.slice(1, 4).includes("TRIGGER");
  if (words.includes(";") && !isTrigger) {
    throw new SyntaxError("query runs one SQL statement at a time. Call it once for each statement.");
  }
  if (verb === "PRAGMA") checkPragma(words);
  const writes =
    WRITES.has(verb) ||
    (verb === "WITH" && words.some((word) => ["INSERT", "UPDATE", "DELETE"].includes(word)));
  if (!writes && !READS.has(verb)) {
    throw new SyntaxError(
      `${tokens[0]} is not a statement that query runs. It runs SELECT, WITH, VALUES, EXPLAIN and, with allow_writes: true, ` +
        `${[...WRITES].join(", ")}.`,
    );
  }
  if (writes && !allowWrites) {
    throw new Error(
      `${verb} changes the database, and queries are read-only. To allow it, pass allow_writes: true.`,
    );
  }
  const isNumbered = tokens.some(
    (token, index) => /^[?:@$]$/.test(token) && /^[\p{L}\p{N}_]/u.test(tokens[index + 1] ?? ""),
  );
  return { sql, writes, placeholders: isNumbered ? null : tokens.filter((token) => token === "?").length };
}

function checkPragma(words: readonly string[]): void {
  const name = (words[2] === "." ? words[3] : words[1])?.toLowerCase() ?? "";
  if (READ_PRAGMAS.has(name) && !words.includes("=")) return;
  throw new Error(`PRAGMA ${name} is refused. These are allowed: ${[...READ_PRAGMAS].join(", ")}.`);
}
