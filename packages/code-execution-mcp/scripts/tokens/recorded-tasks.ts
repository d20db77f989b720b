import type { JsonObject } from "@cem/core";

interface Call {
  server: string;
  tool: string;
  args: JsonObject;
}

/** A task as it was done twice: by calls, one turn of the model after another, and by one program. */
export interface RecordedTask {
  task: string;
  /** The calls of each turn; those of one turn were made at once. */
  turns: Call[][];
  program: string;
  /** The model's last answer. */
  answer: string;
}

const ORDERS = 8;
const NOTES = ["a", "b", "c", "d", "e", "f"];

/** The files that the tasks are about. */
export const FILES: Readonly<Record<string, string>> = Object.fromEntries([
  ...Array.from({ length: ORDERS }, (_, index) => [
    `orders/${index + 1}.json`,
    JSON.stringify({
      id: index + 1,
      customer: `customer ${index % 3}`,
      total: 10 + index * 7.5,
      items: lines(index),
    }),
  ]),
  ...NOTES.map((name, index) => [
    `notes/${name}.md`,
    `# Note ${name}\n\n${"Some words of a note. ".repeat(20 + index * 10)}\n`,
  ]),
]);

function lines(order: number): object[] {
  return Array.from({ length: 12 }, (_, line) => ({
    sku: `S-${order}-${line}`,
    name: `Thing ${line}`,
    price: line + 0.5,
  }));
}

/** `ROOT` stands for the folder of the files. */
const file = (path: string): Call => ({
  server: "filesystem",
  tool: "read_text_file",
  args: { path: `ROOT/${path}` },
});
const list = (path: string): Call => ({
  server: "filesystem",
  tool: "list_directory",
  args: { path: `ROOT/${path}` },
});
const orders = Array.from({ length: ORDERS }, (_, index) => file(`orders/${index + 1}.json`));
const FILESYSTEM = "./servers/filesystem/index.ts";

export const RECORDED_TASKS: readonly RecordedTask[] = [
  {
    task: "Echo the message hello",
    turns: [[{ server: "everything", tool: "echo", args: { message: "hello" } }]],
    program: `import { echo } from "./servers/everything/index.ts";\n\nexport default await echo({ message: "hello" });`,
    answer: "Echo: hello",
  },
  {
    task: "Read the file ROOT/notes/a.md",
    turns: [[file("notes/a.md")]],
    program: `import { read_text_file } from "${FILESYSTEM}";\n\nexport default await read_text_file({ path: "ROOT/notes/a.md" });`,
    answer: FILES["notes/a.md"] ?? "",
  },
  {
    task: "Get the sum of 2 and 3, then add 4 to it, then 5, then 6",
    turns: [
      [{ server: "everything", tool: "get-sum", args: { a: 2, b: 3 } }],
      [{ server: "everything", tool: "get-sum", args: { a: 5, b: 4 } }],
      [{ server: "everything", tool: "get-sum", args: { a: 9, b: 5 } }],
      [{ server: "everything", tool: "get-sum", args: { a: 14, b: 6 } }],
    ],
    program: `import { get_sum } from "./servers/everything/index.ts";

let sum = 2;
for (const b of [3, 4, 5, 6]) sum = Number(/(-?[\\d.]+)\\.?$/.exec(String(await get_sum({ a: sum, b })))?.[1]);
export default sum;`,
    answer: "20",
  },
  {
    task: "List the files in ROOT/orders, read each order and give the total per customer",
    turns: [[list("orders")], orders],
    program: `import { list_directory, read_text_file } from "${FILESYSTEM}";

const textOf = (result) => (typeof result === "string" ? result : result.content);
const names = textOf(await list_directory({ path: "ROOT/orders" })).match(/\\S+\\.json/g) ?? [];
const orders = await Promise.all(names.map(async (name) => {
  const order = await read_text_file({ path: \`ROOT/orders/\${name}\` });
  return typeof order === "string" || order.content ? JSON.parse(textOf(order)) : order;
}));
const totals = {};
for (const { customer, total } of orders) totals[customer] = (totals[customer] ?? 0) + total;
export default totals;`,
    answer: '{"customer 0":97.5,"customer 1":120,"customer 2":72.5}',
  },
  {
    task: "Find the longest note in ROOT/notes and write its name to ROOT/longest.txt",
    turns: [
      [list("notes")],
      NOTES.map((name) => file(`notes/${name}.md`)),
      [{ server: "filesystem", tool: "write_file", args: { path: "ROOT/longest.txt", content: "f.md" } }],
    ],
    program: `import { list_directory, read_text_file, write_file } from "${FILESYSTEM}";

const textOf = (result) => (typeof result === "string" ? result : result.content);
const names = textOf(await list_directory({ path: "ROOT/notes" })).match(/\\S+\\.md/g) ?? [];
const notes = await Promise.all(names.map(async (name) => ({ name, text: textOf(await read_text_file({ path: \`ROOT/notes/\${name}\` })) })));
const longest = notes.reduce((best, note) => (note.text.length > best.text.length ? note : best)).name;
await write_file({ path: "ROOT/longest.txt", content: longest });
export default longest;`,
    answer: "f.md",
  },
];
