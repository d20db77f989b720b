import type { JsonSchema } from "@cem/core";
import { defineTool } from "../../src/index.ts";

type Properties = Record<string, JsonSchema>;

/** An argument that its schema declares as text. */
function text(value: unknown): string {
  if (typeof value !== "string") throw new Error("A string is needed.");
  return value;
}

const TEXT = { type: "string" };
const COUNT = { type: "integer" };
const NUMBER = { type: "number" };
const TEXTS = { type: "array", items: TEXT };
const oneOf = (...values: string[]): JsonSchema => ({ type: "string", enum: values });
const nullable = (type: string): JsonSchema => ({ type: [type, "null"] });
const object = (properties: Properties, required = Object.keys(properties)): JsonSchema => ({
  type: "object",
  properties,
  required,
});
const listOf = (items: JsonSchema): JsonSchema => ({ type: "array", items });

const TABLES: Record<string, Record<string, string | number | null>[]> = {
  customers: [
    { id: 1, name: "Ada", city: "Oslo", email: "ada@x.io", active: 1 },
    { id: 2, name: "Bob", city: "Paris", email: null, active: 0 },
    { id: 3, name: "Cy", city: "Oslo", email: "cy@x.io", active: 1 },
  ],
  orders: [
    { id: 10, customer_id: 1, amount: 120.5, status: "paid", created_at: "2026-01-05" },
    { id: 11, customer_id: 1, amount: 80, status: "open", created_at: "2026-02-10" },
    { id: 12, customer_id: 2, amount: 200, status: "paid", created_at: "2026-02-11" },
    { id: 13, customer_id: 3, amount: null, status: "cancelled", created_at: "2026-03-01" },
  ],
};
const ISSUES = [
  ["Crash at start", "open", ["bug"], "ada", "2026-02-28T00:00:00Z", 4],
  ["Dark mode", "open", ["feature", "ui"], null, "2026-01-31T00:00:00Z", 0],
  ["Typo", "closed", ["bug", "docs"], null, "2026-03-09T00:00:00Z", 1],
].map(([title, state, labels, assignee, created_at, comments], index) => ({
  number: index + 1,
  title,
  state,
  labels,
  assignee,
  created_at,
  comments,
}));
const COMMITS = [
  ["a1b2c3d4e5", "ada", "2026-03-01T10:00:00Z", "feat(ui): dark mode"],
  ["b1b2c3d4e5", "bob", "2026-03-02T10:00:00Z", "fix: crash at start"],
  ["c1b2c3d4e5", "ada", "2026-03-03T10:00:00Z", "Tidy up"],
].map(([hash, author, timestamp, subject]) => ({ hash, author, timestamp, subject }));
const CONTACTS = [
  { id: "c1", name: "Acme", email: "Office@acme.com", status: "lead", value: 50 },
  { id: "c2", name: "Alba", email: null, status: "customer", value: 500 },
  { id: "c3", name: "Bravo", email: "b@bravo.org", status: "customer", value: 150 },
];
const FILES: Record<string, string> = {
  "sales.csv": "region,amount\nEU,10\nUS,20\nEU,12\n",
  "config.json": '{"name":"app","features":["search","export"]}',
  "notes.txt": "To be or not to be, to do",
};
const PAGES = [
  { title: "Docs", url: "https://www.typescriptlang.org/docs", snippet: "Docs", published: "2026-01-02" },
  { title: "Blog", url: "https://devblogs.example.com/a", snippet: "News", published: "2026-03-04" },
  { title: "Wiki", url: "https://www.typescriptlang.org/wiki", snippet: "Wiki" },
];
const REPO = { owner: TEXT, repo: TEXT };
const TEMPERATURES: Record<string, number> = { Oslo: 4, Paris: 12, Rome: 18, Austin: 80 };

function weatherOf(location: string): {
  location: string;
  temperature: number;
  conditions: string;
  humidity: number;
} {
  const temperature = TEMPERATURES[location];
  if (temperature === undefined) throw new Error(`There is no place ${location}.`);
  return { location, temperature, conditions: temperature > 10 ? "sunny" : "snow", humidity: 60 };
}

/** Tools of the kinds that programs of models use, with answers that are always the same. */
export const corpusTools = {
  db: {
    query: defineTool({
      description: "Run a SQL query.",
      input: object({ sql: TEXT, params: listOf({ type: ["string", "number", "null"] }) }, ["sql"]),
      output: listOf({ type: "object", additionalProperties: { type: ["string", "number", "null"] } }),
      execute: ({ sql }) => TABLES[/FROM (\w+)/.exec(text(sql))?.[1] ?? ""] ?? [],
    }),
    list_tables: defineTool({
      description: "List tables.",
      output: TEXTS,
      execute: () => Object.keys(TABLES),
    }),
  },
  weather: {
    get_weather: defineTool({
      description: "Get the weather of a place.",
      input: object({ location: TEXT, units: oneOf("metric", "imperial") }, ["location"]),
      output: object({ location: TEXT, temperature: NUMBER, conditions: TEXT, humidity: NUMBER }),
      execute: ({ location }) => weatherOf(text(location)),
    }),
    get_forecast: defineTool({
      description: "Get the forecast of a place.",
      input: object({ location: TEXT, days: COUNT }, ["location"]),
      output: listOf(object({ date: TEXT, high: NUMBER, low: NUMBER, conditions: TEXT })),
      execute: ({ days = 3 }) =>
        Array.from({ length: Number(days) }, (_, day) => ({
          date: `2026-03-0${day + 1}`,
          high: 10 + day,
          low: day,
          conditions: "sunny",
        })),
    }),
  },
  files: {
    read_text_file: defineTool({
      description: "Read a file.",
      input: object({ path: TEXT }),
      output: TEXT,
      execute: ({ path }) => FILES[text(path).replace("/data/", "")] ?? "",
    }),
    write_file: defineTool({
      description: "Write a file.",
      input: object({ path: TEXT, content: TEXT }),
      output: object({ path: TEXT, bytes: COUNT }),
      execute: ({ path, content }) => ({ path, bytes: text(content).length }),
    }),
    list_directory: defineTool({
      description: "List a directory.",
      input: object({ path: TEXT }),
      output: listOf(object({ name: TEXT, type: oneOf("file", "directory"), size: COUNT })),
      execute: () => [
        ...Object.entries(FILES).map(([name, { length }]) => ({ name, type: "file", size: length })),
        { name: "old", type: "directory", size: 0 },
      ],
    }),
  },
  tracker: {
    list_issues: defineTool({
      description: "List issues.",
      input: object({ ...REPO, state: oneOf("open", "closed", "all"), labels: TEXTS, per_page: COUNT }, [
        "owner",
        "repo",
      ]),
      output: listOf(
        object({
          number: COUNT,
          title: TEXT,
          state: oneOf("open", "closed"),
          labels: TEXTS,
          assignee: nullable("string"),
          created_at: TEXT,
          comments: COUNT,
        }),
      ),
      execute: ({ state = "open" }) => ISSUES.filter((issue) => state === "all" || issue.state === state),
    }),
    create_issue: defineTool({
      description: "Create an issue.",
      input: object({ ...REPO, title: TEXT, body: TEXT, labels: TEXTS }, ["owner", "repo", "title"]),
      output: object({ number: COUNT, url: TEXT }),
      execute: () => ({ number: 7, url: "https://tracker.example.com/7" }),
    }),
    update_issue: defineTool({
      description: "Change an issue.",
      input: object({ ...REPO, issue_number: COUNT, state: oneOf("open", "closed") }, [
        "owner",
        "repo",
        "issue_number",
      ]),
      output: object({ number: COUNT, state: TEXT }),
      execute: ({ issue_number, state = "open" }) => ({ number: issue_number, state }),
    }),
    list_commits: defineTool({
      description: "List commits.",
      input: object(REPO),
      output: listOf(object({ hash: TEXT, author: TEXT, timestamp: TEXT, subject: TEXT })),
      execute: () => COMMITS,
    }),
  },
  browser: {
    navigate: defineTool({
      description: "Open a page.",
      input: object({ url: TEXT }),
      output: object({ title: TEXT, url: TEXT }),
      execute: ({ url }) => ({ title: "Example", url }),
    }),
    take_screenshot: defineTool({
      description: "Take a screenshot.",
      input: object(
        { type: { enum: ["png", "jpeg"], default: "png" }, fullPage: { type: "boolean" }, filename: TEXT },
        ["type"],
      ),
      output: object({ path: TEXT }),
      execute: ({ type }) => ({ path: `/tmp/page.${text(type)}` }),
    }),
    snapshot: defineTool({
      description: "Describe the page.",
      execute: () => ({ text: "Example\nhttps://example.com/a and https://example.com/b" }),
    }),
  },
  crm: {
    find_contacts: defineTool({
      description: "Find contacts.",
      input: object({ query: TEXT, status: oneOf("lead", "customer", "churned"), limit: COUNT }, ["query"]),
      output: object({
        contacts: listOf(
          object({
            id: TEXT,
            name: TEXT,
            email: nullable("string"),
            status: oneOf("lead", "customer", "churned"),
            value: NUMBER,
          }),
        ),
        total: COUNT,
      }),
      execute: ({ query, status }) => {
        const contacts = CONTACTS.filter(
          (one) => one.name.toLowerCase().includes(text(query)) && (status ?? one.status) === one.status,
        );
        return { contacts, total: contacts.length };
      },
    }),
    update_contact: defineTool({
      description: "Change a contact.",
      input: object({
        id: TEXT,
        fields: object({ status: oneOf("lead", "customer", "churned"), owner: TEXT, tags: TEXTS }, []),
      }),
      output: object({ ok: { type: "boolean" } }),
      execute: () => ({ ok: true }),
    }),
    create_contacts: defineTool({
      description: "Create contacts.",
      input: object({
        contacts: listOf(
          object({ name: TEXT, email: nullable("string"), status: oneOf("lead", "customer") }, ["name"]),
        ),
      }),
      output: object({ created: TEXTS }),
      execute: ({ contacts }) => ({
        created: (contacts as { name: string }[]).map(({ name }, index) => `${index}-${name}`),
      }),
    }),
    log_activity: defineTool({
      description: "Log an activity.",
      input: object({ contact_id: TEXT, kind: oneOf("call", "email", "meeting"), note: TEXT, at: TEXT }, [
        "contact_id",
        "kind",
        "note",
      ]),
      output: object({ id: TEXT }),
      execute: ({ contact_id, kind }) => ({ id: `${text(contact_id)}-${text(kind)}` }),
    }),
  },
  search: {
    web_search: defineTool({
      description: "Search the web.",
      input: object({ query: TEXT, count: COUNT, freshness: oneOf("day", "week", "month"), domains: TEXTS }, [
        "query",
      ]),
      output: listOf(
        object({ title: TEXT, url: TEXT, snippet: TEXT, published: TEXT }, ["title", "url", "snippet"]),
      ),
      execute: ({ count = 10 }) => PAGES.slice(0, Number(count)),
    }),
  },
};
