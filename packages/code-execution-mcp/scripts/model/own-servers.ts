import { defineTool } from "@cem/bridge";
import type { JsonObject, JsonSchema } from "@cem/core";
import type { HostToolsByServer } from "@cem/mcp-tools";

interface Issue extends JsonObject {
  number: number;
  title: string;
  state: string;
  labels: string[];
  author: string;
  comments: number;
  created_at: string;
}

const readOnly = { readOnlyHint: true };

function object(properties: Record<string, JsonSchema>, required: string[] = []): JsonSchema {
  return { type: "object", properties, required, additionalProperties: false };
}

/** Three servers that are plain definitions over data in memory: an issue tracker, a mailbox and a parcel service. */
export function createOwnServers(): HostToolsByServer {
  return { tracker: trackerTools(), mail: mailTools(), parcels: parcelTools() };
}

function issue(number: number, title: string, state: string, labels: string[], rest: Partial<Issue>): Issue {
  return { number, title, state, labels, author: "ada", comments: 0, created_at: "2026-09-01", ...rest };
}

const ISSUE = object(
  {
    number: { type: "integer" },
    title: { type: "string" },
    state: { enum: ["open", "closed"] },
    labels: { type: "array", items: { type: "string" } },
    author: { type: "string" },
    comments: { type: "integer", description: "How many comments there are." },
    created_at: { type: "string", description: "The day, as YYYY-MM-DD." },
  },
  ["number", "title", "state", "labels", "author", "comments", "created_at"],
);

function trackerTools(): HostToolsByServer[string] {
  const issues = [
    issue(1, "Crash when saving", "open", ["bug", "urgent"], { comments: 7, created_at: "2026-08-03" }),
    issue(2, "Dark mode", "open", ["feature"], { author: "grace", comments: 12, created_at: "2026-08-11" }),
    issue(3, "Typo in the manual", "closed", ["docs"], { author: "linus", comments: 1 }),
    issue(4, "Slow start", "open", ["bug"], { author: "grace", comments: 3, created_at: "2026-09-15" }),
    issue(5, "Export as PDF", "open", ["feature"], { comments: 0, created_at: "2026-10-02" }),
    issue(6, "Login loop", "closed", ["bug", "urgent"], {
      author: "linus",
      comments: 9,
      created_at: "2026-10-20",
    }),
  ];
  return {
    list_issues: defineTool({
      description: "List issues of the project, oldest first.",
      annotations: readOnly,
      input: object({
        state: { enum: ["open", "closed", "all"], default: "open", description: "Which issues." },
        label: { type: "string", description: "Only issues with this label." },
        limit: { type: "integer", minimum: 1, maximum: 100, default: 20 },
      }),
      output: { type: "array", items: ISSUE },
      execute: ({ state = "open", label, limit = 20 }) =>
        issues
          .filter((one) => state === "all" || one.state === state)
          .filter(({ labels }) => label === undefined || labels.includes(String(label)))
          .slice(0, Number(limit)),
    }),
    get_issue: defineTool({
      description: "Get one issue by its number.",
      annotations: readOnly,
      input: object({ number: { type: "integer", description: "The number of the issue." } }, ["number"]),
      output: ISSUE,
      execute({ number }) {
        const found = issues.find((one) => one.number === number);
        if (found === undefined) throw new Error(`There is no issue ${String(number)}.`);
        return found;
      },
    }),
    create_issue: defineTool({
      description: "Create an issue. Returns its number.",
      input: object(
        {
          title: { type: "string", minLength: 1 },
          body: { type: "string", description: "Text in Markdown." },
          labels: { type: "array", items: { type: "string" } },
        },
        ["title"],
      ),
      output: object({ number: { type: "integer" } }, ["number"]),
      execute({ title, labels }) {
        const number = issues.length + 1;
        issues.push(issue(number, String(title), "open", (labels ?? []) as string[], {}));
        return { number };
      },
    }),
    close_issue: defineTool({
      description: "Close an issue for a reason.",
      input: object(
        { number: { type: "integer" }, reason: { enum: ["completed", "not_planned"], default: "completed" } },
        ["number"],
      ),
      execute({ number }) {
        const found = issues.find((one) => one.number === number);
        if (found === undefined) throw new Error(`There is no issue ${String(number)}.`);
        found.state = "closed";
        return "closed";
      },
    }),
  };
}

const MESSAGES = [
  { id: "m1", from: "billing@acme.example", subject: "Invoice 1042", date: "2026-10-01", size_kb: 120 },
  { id: "m2", from: "grace@example.org", subject: "Lunch on Friday?", date: "2026-10-03", size_kb: 4 },
  { id: "m3", from: "billing@acme.example", subject: "Invoice 1057", date: "2026-11-01", size_kb: 131 },
  {
    id: "m4",
    from: "noreply@parcels.example",
    subject: "Your parcel is on its way",
    date: "2026-11-05",
    size_kb: 18,
  },
];
const TEXTS: Record<string, string> = {
  m1: "Dear customer, please pay 240.50 EUR by 2026-10-31.",
  m2: "Shall we meet at noon?",
  m3: "Dear customer, please pay 99.00 EUR by 2026-11-30.",
  m4: "The code of your parcel is PX-77.",
};

function mailTools(): HostToolsByServer[string] {
  return {
    // Its result has no schema, as those of many servers.
    search_messages: defineTool({
      description: "Search the mailbox. Returns messages with sender, subject and date, newest last.",
      annotations: readOnly,
      input: object({
        query: { type: "string", description: "Words of the subject." },
        from: { type: "string", description: "Address of the sender." },
        since: { type: "string", format: "date", description: "Only messages of this day and later." },
      }),
      execute: ({ query, from, since }) => ({
        messages: MESSAGES.filter(
          (one) =>
            (query === undefined || one.subject.toLowerCase().includes(String(query).toLowerCase())) &&
            (from === undefined || one.from === from) &&
            (since === undefined || one.date >= String(since)),
        ),
      }),
    }),
    read_message: defineTool({
      description: "Read the text of a message.",
      annotations: readOnly,
      input: object({ id: { type: "string", description: "The id from search_messages." } }, ["id"]),
      execute: ({ id }) => TEXTS[String(id)] ?? "",
    }),
    send_message: defineTool({
      description: "Send a message. This can't be undone.",
      input: object(
        {
          to: { type: "array", items: { type: "string", format: "email" }, minItems: 1 },
          subject: { type: "string" },
          body: { type: "string" },
        },
        ["to", "subject", "body"],
      ),
      output: object({ id: { type: "string" } }, ["id"]),
      execute: () => ({ id: "m5" }),
    }),
  };
}

const PRICES: Record<string, number> = { standard: 490, express: 1_190 };

function parcelTools(): HostToolsByServer[string] {
  return {
    quote: defineTool({
      description: "Quote the price of a parcel.",
      annotations: readOnly,
      input: object(
        {
          weight: { type: "integer", minimum: 1, maximum: 30_000, description: "In grams." },
          service: { enum: ["standard", "express"], default: "standard" },
        },
        ["weight"],
      ),
      output: object({ price: { type: "integer", description: "In cents." }, days: { type: "integer" } }, [
        "price",
        "days",
      ]),
      execute: ({ weight, service = "standard" }) => ({
        price: (PRICES[String(service)] ?? 0) + Math.ceil(Number(weight) / 1_000) * 50,
        days: service === "express" ? 1 : 4,
      }),
    }),
    track: defineTool({
      description: "Track a parcel by its code.",
      annotations: readOnly,
      input: object({ code: { type: "string", pattern: "^PX-\\d+$" } }, ["code"]),
      execute: ({ code }) => ({
        code,
        status: code === "PX-77" ? "in transit" : "delivered",
        history: [
          { at: "2026-11-05T08:00:00Z", place: "Hamburg" },
          { at: "2026-11-06T19:30:00Z", place: "Hanover" },
        ],
      }),
    }),
    list_parcels: defineTool({
      description: "List the codes of all parcels.",
      annotations: readOnly,
      execute: () => ["PX-12", "PX-77", "PX-90"],
    }),
  };
}
