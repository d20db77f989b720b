import { splitSteps } from "@cem/text";
import { afterAll, describe, expect, it } from "vitest";
import { readTokens } from "../../language/lexer.ts";
import { loadDocument } from "../../planning/documents.ts";
import { callFileSystem } from "../../planning/file-system.ts";
import { finishProgram } from "../../planning/finish.ts";
import { Plan } from "../../planning/plan.ts";
import { readStep } from "../../planning/read-step.ts";
import type { Production } from "../../planning/step.ts";
import { literal } from "../../program/expression.ts";
import { printProgram } from "../../program/print-program.ts";
import { createWorkspace } from "../../testing/run-code.ts";
import { sampleTools } from "../../testing/tools.ts";
import { readCollection } from "./collection.ts";
import { readComparison } from "./comparison.ts";
import { readDataQuery } from "./data-query.ts";
import { readSuperlative } from "./superlative.ts";

const PRODUCTIONS: readonly Production[] = [readCollection, readDataQuery, readComparison, readSuperlative];

/** What is there before a step: `list:` a JSON file, `csv:` text of a CSV file. */
function prepare(plan: Plan, text: string): boolean {
  const path = /^read (\S+)$/iu.exec(text)?.[1];
  if (path === undefined) return false;
  plan.lastPath = path;
  if (path.endsWith(".json")) loadDocument(plan, path, text);
  else
    plan.declare(callFileSystem(plan, "readFile", literal(path), literal("utf8")), {
      words: "content",
      schema: { type: "string" },
    });
  return true;
}

/** The program of a task, or why it is refused. */
function write(task: string): { code: string } | { refused: string } {
  const plan = new Plan(sampleTools, () => new Date("2026-11-20T12:00:00Z"));
  for (const { text, fields, items } of splitSteps(task)) {
    plan.stepIndex += 1;
    plan.stepText = text;
    if (prepare(plan, text)) continue;
    const reading = readStep({ text, span: readTokens(text), fields, items }, plan, PRODUCTIONS);
    if (reading === undefined || "hint" in reading) return { refused: reading?.hint ?? text };
    reading.lower();
  }
  return { code: printProgram(finishProgram(plan)) };
}

function code(task: string): string {
  const written = write(task);
  if ("refused" in written) throw new Error(`${task}: ${written.refused}`);
  return written.code;
}

function refusal(task: string): string {
  const written = write(task);
  if ("code" in written) throw new Error(`${task}:\n${written.code}`);
  return written.refused;
}

/** Tasks, and what the last of their programs does. */
const READ: readonly (readonly [task: string, part: string])[] = [
  [
    "Get users in Berlin older than 40",
    'equals(user.city, "Berlin") && typeof user.age === "number" && user.age > 40',
  ],
  ["Get users not in Berlin", '!equals(user.city, "Berlin")'],
  [
    "Get all users except those from London or Rome",
    '!(equals(user.city, "London") || equals(user.city, "Rome"))',
  ],
  ["Get orders with at least 50 total", "order.total >= 50"],
  ["Get orders over 100 dollars", 'inUnit(orders, "USD"'],
  ["Get orders with total 50 or more", "order.total >= 50"],
  ["users who joined in 2023", 'String(user.created_at).startsWith("2023")'],
  ["Get orders placed after 2024-06-01", '.slice(0, 10) > "2024-06-01"'],
  ["Get orders created since March 2024", '>= "2024-03"'],
  ["Get orders before 2024-01-01", '.slice(0, 10) < "2024-01-01"'],
  ["the second cheapest product", "sortedProducts[1] ?? null"],
  [
    "the 3 cheapest products in electronics, sorted by name",
    "topProducts.toSorted((a, b) => compare(a.name, b.name))",
  ],
  ["top 3 products by price", "compare(b.price, a.price)"],
  ["bottom 3 products by price", "compare(a.price, b.price)"],
  ["How many users are there per city?", 'countBy(users, "city")'],
  ["What percent of the users are active?", "percentage(activeUsers.length, users.length)"],
  ["What is the median age of users in Berlin?", 'median(numbersIn(matchingUsers, "age"))'],
  ["average order total", 'average(numbersIn(orders, "total"))'],
  ["Get user 3's email", "firstUser.email"],
  ["Get the distinct cities of users", "new Set(users.map((user) => user.city))"],
  ["which city has the most users?", "toSorted(([, a], [, b]) => b - a)"],
  ["SELECT name FROM users WHERE age > 30", 'query({ sql: "SELECT name FROM users WHERE age > 30" })'],
  ['Run "DELETE FROM users WHERE id = 3"', 'query({ sql: "DELETE FROM users WHERE id = 3" })'],
  ["Run DELETE FROM users WHERE id = 1 with allow_writes true", "allow_writes: true"],
  ["Query the products, group them by category and count them", 'countBy(products, "category")'],
  ["Get all users, then remove those from London", '!equals(user.city, "London")'],
  ["Get all users, then filter out the inactive ones", "!isInactive(user)"],
  ["Get all users, then take the oldest one", "sortedUsers[0] ?? null"],
  ["Get all users and print the first three names", "console.log(JSON.stringify(names, null, 2))"],
  ["Read data.json, filter items where price > 10, sort by name", 'findColumn(matchingItems, "name")'],
  ["Read people.json and return the last two", "items.slice(-2)"],
  ["Read numbers.json and sort it descending", "compare(b, a)"],
  ["Read numbers.json and keep the numbers above 3", "number > 3"],
  ["Read sales.csv. Calculate the average price per region", "average(numbersIn(group, priceColumn))"],
  ["Which 3 products are the most expensive?", "sortedProducts.slice(0, 3)"],
  ["Get at most 5 users", "users.slice(0, 5)"],
  ["Get users at most 30 years old", "user.age <= 30"],
  ["Get total of orders of user 3", 'numbersIn(matchingOrders, "total").reduce'],
  ["Get users where id in (1, 2, 3)", "equals(user.id, 1) || equals(user.id, 2) || equals(user.id, 3)"],
  ["Get users except Bob", "!isBob(user)"],
  ["which is warmer, Oslo or Rome?", "item.temperature > best.temperature"],
  ["Is it colder in Lisbon than in Dublin?", "lisbonWeather.temperature < dublinWeather.temperature"],
  ["How much colder is Oslo than Rome?", "romeWeather.temperature - osloWeather.temperature"],
  ["the average temperature of Paris, Rome and Oslo", 'average(numbersIn(weather, "temperature"))'],
  ["the temperature difference between Paris and Rome", "Math.max"],
];

/** Tasks that say more than is known, and the word of it. */
const REFUSED: readonly (readonly [task: string, word: string])[] = [
  ["Get users with shoe size above 40", '"shoe size above 40"'],
  ["orders over 200 from last week", '"last week"'],
  ["Find users who joined last year", '"last year"'],
  ["Get users twice", '"twice"'],
  ["Get the top 3 products", "by what to rank"],
  ["Find products with low stock", '"low stock"'],
  ["Get users where city is Berlin and age is over 40 or name is Bob", '"or name is Bob"'],
  ["Get users with more than 3 orders", '"orders"'],
  ["Get the names of the users and the products", "products"],
  ['Show me "DELETE FROM users WHERE id = 3"', "changes data"],
  ["delete user 5", '"delete user 5"'],
  ["Read people.json. Keep those older than 40 months", '"months"'],
  ["Get all users. Keep those over 40 from last week", '"last week"'],
  ["How many of the first 3 users are active?", "in two steps"],
  ["What is the average age and the maximum age of users?", "age"],
  ["Get users older than twice 20", '"twice 20"'],
  ["Get orders that are pending and shipped", '"shipped"'],
  ["which is warmer in July, Oslo or Rome?", "which is warmer in July"],
];

/** Words of which one means something else than another. */
const KINDS: readonly (readonly string[])[] = [
  ["3", "5", "40", "50", "100", "12", "10"],
  ["2023", "2024"],
  ["name", "age", "city", "price", "total", "stock", "category", "status", "quantity"],
  ["users", "orders", "products"],
  ["Berlin", "London", "Rome", "Oslo", "Paris", "Tokyo"],
  ["active", "inactive", "pending", "delivered", "electronics", "travel"],
  ["average", "median", "maximum", "minimum", "sum"],
  ["above", "below", "over", "under"],
  ["least", "most"],
  ["older", "younger"],
  ["warmer", "colder"],
  ["oldest", "youngest"],
  ["cheapest", "priciest"],
  ["highest", "lowest"],
  ["first", "last"],
  ["second", "third"],
  ["top", "bottom"],
  ["ascending", "descending"],
  ["after", "before", "since", "until"],
  ["dollars", "euros", "pounds"],
  ["years", "months"],
  ["keep", "remove"],
  ["contains", "starts with", "ends with"],
  [">", "<", ">=", "<=", "="],
];
/** Words that say the same as others of their kind. */
const SAME: readonly (readonly string[])[] = [
  ["above", "over"],
  ["below", "under"],
];
const SENTENCES = [
  ...READ.map(([task]) => task).filter((task) => !/^(?:SELECT|Run)\b/u.test(task)),
  "Get orders with status pending and total above 100",
  "Get users in Berlin or Rome",
  "Get users sorted by age descending",
  "Get products under 50 dollars sorted by price ascending",
  "Get all users. Keep those older than 40 years",
  "Get the highest price of products in electronics",
  "Get the emails of the 3 oldest users",
  "Get users whose name contains Smith",
  "Get products with more than 10 in stock",
  "Get all orders. Keep those above 50. Sort them by total descending. Take the top 3",
  "Read data.json and sort it by price ascending",
  "Get orders where quantity > 3 and total < 100",
];

/** Tasks and what their programs give, over the sample database and the files of {@link FILES}. */
const RUN: readonly (readonly [task: string, value: unknown])[] = [
  ["How many active users are there?", 16],
  ["How many orders are pending?", 14],
  ["How many pending orders are over 200?", 9],
  ["Query database for orders, filter for delivered orders, and sum the total", 9449.49],
  ["Get orders over 1000 and sum up their totals", 11_383],
  ["Get all products priced above 50 and count them", 13],
  ["How many rows does the orders table have?", 72],
  ["Get the names of all users in Tokyo", ["Hiro Tanaka", "Tara Singh"]],
  ["Get all users and print the first three names", ["Alice Johnson", "Bob Smith", "Carla Gomez"]],
  ["users who joined in 2023", []],
  ["What percent of the users are active?", (16 / 24) * 100],
  ["Read /workspace/people.json and return the first two names", ["Ada", "Grace"]],
  ["Read /workspace/people.json and give me everyone over 40", ["Grace", "Linus"]],
  ["Read /workspace/people.json. Keep those not from London. Return their names", ["Grace", "Linus"]],
  ["Read /workspace/people.json. Calculate the average age", 45],
  ["Read /workspace/people.json. Which of them are in Rome? Count them", 1],
  ["Read /workspace/numbers.json and sum the numbers", 14],
  ["Read /workspace/numbers.json and sort it descending", [5, 4, 3, 1, 1]],
  ["Read /workspace/numbers.json. How many numbers are above 2?", 3],
  ["Read /workspace/sales.csv. Sum the amount column", 11.5],
  ["Read /workspace/sales.csv. Return the notes", ['say "hi", all', "two\nlines", ""]],
  ["Read /workspace/sales.csv. Filter rows where region is North. Return the codes", ["007", "08"]],
];
const FAILS: readonly (readonly [task: string, message: string])[] = [
  ["Get red users", 'No row holds "red"'],
  ["Read /workspace/people.json. Sort it", "Say which column"],
  ["Read /workspace/people.json. Filter by height above 3", 'There is no column for "height"'],
  ["Read /workspace/sales.csv. Keep those with amount over 3 euros", "The currency is USD, not EUR"],
];
const FILES = {
  "people.json": JSON.stringify([
    { name: "Ada", age: 36, city: "London" },
    { name: "Grace", age: 45, city: "Paris" },
    { name: "Linus", age: 54, city: "Rome" },
  ]),
  "numbers.json": "[3, 1, 4, 1, 5]",
  "sales.csv":
    'code,region,amount,currency,notes\r\n007,North,2.50,USD,"say ""hi"", all"\r\n08,North,4,USD,"two\nlines"\r\n9,South,5,USD,\r\n',
};

describe("rows", () => {
  const workspace = createWorkspace(afterAll);
  for (const [file, text] of Object.entries(FILES)) workspace.write(file, text);

  it.each(RUN)("answers: %s", async (task, value) => {
    const found = (await workspace.run(code(task))).value;
    expect(task.includes("everyone") ? (found as { name: string }[]).map((one) => one.name) : found).toEqual(
      value,
    );
  });

  it.each(FAILS)("fails with a reason: %s", async (task, message) => {
    await expect(workspace.run(code(task))).rejects.toThrow(message);
  });

  it.each(READ)("reads: %s", (task, part) => {
    expect(code(task).replaceAll(/\s+/gu, " ").replaceAll("( ", "(")).toContain(part);
  });

  it.each(REFUSED)("refuses: %s", (task, word) => {
    expect(refusal(task)).toContain(word);
  });

  it("does something else, or nothing, when a word is another of its kind", () => {
    const same: string[] = [];
    for (const task of SENTENCES) {
      const before = code(task);
      for (const [at, { text, start, end }] of readTokens(task).all.entries()) {
        const kind = KINDS.find((words) => words.includes(text.toLowerCase()) || words.includes(text)) ?? [];
        const others = [...kind, ...(at === 0 || /^(?:\p{P}|\p{S}|the|a|an)+$/u.test(text) ? [] : ["zorp"])];
        for (const other of others) {
          if (
            other === text.toLowerCase() ||
            other === text ||
            SAME.some((words) => words.includes(other) && words.includes(text))
          )
            continue;
          const changed = task.slice(0, start) + other + task.slice(end);
          const after = write(changed);
          if ("code" in after && after.code === before) same.push(changed);
        }
      }
    }
    expect(same).toEqual([]);
  });

  it("never steps over a word that says something else", () => {
    const same: string[] = [];
    for (const task of SENTENCES) {
      const before = code(task);
      for (const { start } of readTokens(task).all)
        for (const word of ["not", "except", "twice", "least", "tomorrow", "second", "without", "zorp"]) {
          const changed = `${task.slice(0, start)}${word} ${task.slice(start)}`;
          const after = write(changed);
          if ("code" in after && after.code === before) same.push(changed);
        }
    }
    expect(same).toEqual([]);
  });

  it("reads a long text in little time", () => {
    for (const text of ["age > 3 and ", "the ", "Berlin or ", "(", "of the names "])
      expect(write(`Get users where ${text.repeat(300)}x`)).toHaveProperty("refused");
  });
});
