import { expect, it } from "vitest";
import { withoutFence } from "./compile-program.ts";

it.each([
  ["```ts\nreturn 1;\n```", "\nreturn 1;\n"],
  ["```\nreturn 1;\n```\n", "\nreturn 1;\n"],
  ["\n~~~typescript\r\nreturn 1;\r\n~~~", "\n\r\nreturn 1;\r\n"],
  ["````js\nconst a = `\n```\n`;\n````", "\nconst a = `\n```\n`;\n"],
])("takes %j out of its fence, with its lines where they are", (text, code) => {
  expect(withoutFence(text)).toBe(code);
});

it.each(["return 1;", "const a = `x`;", "```ts\nreturn 1;", "Here:\n```ts\nreturn 1;\n```"])(
  "leaves %j as it is",
  (text) => {
    expect(withoutFence(text)).toBe(text);
  },
);
