import { expect, it } from "vitest";
import { withoutFence } from "./compile-program.ts";

it.each([
  ["```ts\nreturn 1;\n```", "\nreturn 1;\n"],
  ["```\nreturn 1;\n```\n", "\nreturn 1;\n"],
  ["\n~~~typescript\r\nreturn 1;\r\n~~~", "\n\r\nreturn 1;\r\n"],
  ["```ts\nreturn 1;", "\nreturn 1;"],
  ["```ts\nreturn 1;\n```\nDone!\n", "\nreturn 1;\n"],
  ["````js\nconst a = `\n```\n`;\n````", "\nconst a = `\n```\n`;\n"],
])("takes %j out of its fence, with its lines where they are", (text, code) => {
  expect(withoutFence(text)).toBe(code);
});

it.each([
  "return 1;",
  "const a = `x`;",
  "```ts\nreturn 1;\n```\nor\n```ts\nreturn 2;\n```\n!",
  "Here:\n```ts\nreturn 1;\n```",
])("leaves %j as it is", (text) => {
  expect(withoutFence(text)).toBe(text);
});
