import { defineTool } from "@cem/bridge";
import type { HostToolsByServer } from "@cem/mcp-client/tools";
import { z } from "zod";

const readOnly = { readOnlyHint: true };

const issueShape = z.object({
  number: z.int(),
  title: z.string(),
  state: z.enum(["open", "closed"]),
  labels: z.array(z.string()),
  author: z.string(),
  comments: z.int().describe("How many comments there are."),
  created_at: z.string().describe("The day, as YYYY-MM-DD."),
});

type Issue = z.infer<typeof issueShape>;

/** Three servers that are plain definitions over data in memory: an issue tracker, a mailbox and a parcel service. */
export function createOwnServers(): HostToolsByServer {
  return { tracker: trackerTools(), mail: mailTools(), parcels: parcelTools() };
}

function issue(
  number: number,
  title: string,
  state: Issue["state"],
  labels: string[],
  rest: Partial<Issue> = {},
): Issue {
  return { number, title, state, labels, author: "ada", comments: 0, created_at: "2026-09-01", ...rest };
}

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
  const find = (number: number): Issue => {
    const found = issues.find((one) => one.number === number);
    if (found === undefined) throw new Error(`There is no issue ${number}.`);
    return found;
  };
  return {
    list_issues: defineTool({
      description: "List issues of the project, oldest first.",
      annotations: readOnly,
      input: z.object({
        state: z.enum(["open", "closed", "all"]).default("open").describe("Which issues."),
        label: z.string().optional().describe("Only issues with this label."),
        limit: z.int().min(1).max(100).default(20),
      }),
      output: z.array(issueShape),
      execute: ({ state, label, limit }) =>
        issues
          .filter((one) => state === "all" || one.state === state)
          .filter(({ labels }) => label === undefined || labels.includes(label))
          .slice(0, limit),
    }),
    get_issue: defineTool({
      description: "Get one issue by its number.",
      annotations: readOnly,
      input: z.object({ number: z.int().describe("The number of the issue.") }),
      output: issueShape,
      execute: ({ number }) => find(number),
    }),
    create_issue: defineTool({
      description: "Create an issue. Returns its number.",
      input: z.object({
        title: z.string().min(1),
        body: z.string().optional().describe("Text in Markdown."),
        labels: z.array(z.string()).default([]),
      }),
      output: z.object({ number: z.int() }),
      execute({ title, labels }) {
        const number = issues.length + 1;
        issues.push(issue(number, title, "open", labels));
        return { number };
      },
    }),
    export_history: defineTool({
      description: "Export the history of all issues, as one line of text for each event.",
      annotations: readOnly,
      input: z.object({}),
      output: z.object({ events: z.array(z.string()) }),
      // Larger than what is sent to the guest as it is.
      execute: () => ({
        events: Array.from({ length: 60_000 }, (_, at) => `${at}: issue ${at % 6} was read`),
      }),
    }),
    delete_issue: defineTool({
      description: "Delete an issue for good.",
      annotations: { destructiveHint: true },
      input: z.object({ number: z.int() }),
      execute: ({ number }) => issues.splice(issues.indexOf(find(number)), 1).length,
    }),
    close_issue: defineTool({
      description: "Close an issue for a reason.",
      input: z.object({
        number: z.int(),
        reason: z.enum(["completed", "not_planned"]).default("completed"),
      }),
      execute({ number }) {
        find(number).state = "closed";
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
      input: z.object({
        query: z.string().default("").describe("Words of the subject."),
        from: z.string().optional().describe("Address of the sender."),
        since: z.iso.date().optional().describe("Only messages of this day and later."),
      }),
      execute: ({ query, from, since = "" }) => ({
        messages: MESSAGES.filter(
          (one) =>
            one.subject.toLowerCase().includes(query.toLowerCase()) &&
            (from === undefined || one.from === from) &&
            one.date >= since,
        ),
      }),
    }),
    read_message: defineTool({
      description: "Read the text of a message.",
      annotations: readOnly,
      input: z.object({ id: z.string().describe("The id from search_messages.") }),
      execute: ({ id }) => TEXTS[id] ?? "",
    }),
    send_message: defineTool({
      description: "Send a message. This can't be undone.",
      input: z.object({ to: z.array(z.email()).min(1), subject: z.string(), body: z.string() }),
      output: z.object({ id: z.string() }),
      execute: () => ({ id: "m5" }),
    }),
  };
}

const PRICES = { standard: 490, express: 1_190 };
const PRICE_OF_A_KILO = 50;

function parcelTools(): HostToolsByServer[string] {
  return {
    quote: defineTool({
      description: "Quote the price of a parcel.",
      annotations: readOnly,
      input: z.object({
        weight: z.int().min(1).max(30_000).describe("In grams."),
        service: z.enum(["standard", "express"]).default("standard"),
      }),
      output: z.object({ price: z.int().describe("In cents."), days: z.int() }),
      execute: ({ weight, service }) => ({
        price: PRICES[service] + Math.ceil(weight / 1_000) * PRICE_OF_A_KILO,
        days: service === "express" ? 1 : 4,
      }),
    }),
    track: defineTool({
      description: "Track a parcel by its code.",
      annotations: readOnly,
      input: z.object({ code: z.string().regex(/^PX-\d+$/u) }),
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
